import * as z from 'zod';
import type { LocalVendors } from '../local-vendors.ts';
import type { Scenario } from '../simulators/scenario.ts';
import { PageRefusal } from './guard.ts';
import { type FaultName, faultNames, type VendorState } from './ui/wire.ts';

const scenarios: Readonly<Record<FaultName, Scenario | undefined>> = {
  none: undefined,
  'status 500': { refusal: { kind: 'status', status: 500 } },
  hang: { hang: true },
  'cut 3': { cutAfter: 3 },
  slow: { delayMs: 1_500, pauseMs: 400 },
};

export const faultSchema = z.strictObject({ vendor: z.string(), fault: z.enum(faultNames) });

export type Faults = {
  states(): readonly VendorState[];
  /** Throws PageRefusal for a provider that is not simulated here. */
  set(vendor: string, fault: FaultName): void;
};

/** Switch that breaks a simulated provider and repairs it. */
export function createFaults({ vendors, setFault }: Pick<LocalVendors, 'vendors' | 'setFault'>): Faults {
  const present = new Map<string, FaultName>();
  return {
    states: () =>
      vendors.map(({ id, name, isSimulated }) => ({
        id,
        name,
        is_simulated: isSimulated,
        fault: present.get(id) ?? 'none',
      })),
    set(vendor, fault) {
      const found = vendors.find(({ id }) => id === vendor);
      if (!found) throw new PageRefusal(404, `vendor: "${vendor}" is unknown.`);
      if (!found.isSimulated)
        throw new PageRefusal(409, `vendor: ${found.name} is not simulated, so it cannot be broken.`);
      present.set(vendor, fault);
      setFault(found.id, scenarios[fault]);
    },
  };
}
