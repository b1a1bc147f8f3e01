import { useState } from 'preact/hooks';
import { post, wordsOf } from './asking.ts';
import { type FaultName, faultNames, type VendorState } from './wire.ts';

const namesOfFaults: Readonly<Record<FaultName, string>> = {
  none: 'works',
  'status 500': 'returns 500',
  hang: 'never responds',
  'cut 3': 'stops after 3 events',
  slow: 'is slow',
};

/** Switches a simulated provider: on works, off fails. Real providers have no switch. */
export const Vendors = ({ vendors }: { vendors: readonly VendorState[] }) => {
  const [problem, setProblem] = useState('');
  const set = (vendor: string, fault: FaultName): void => {
    post('/local/fault', { vendor, fault }).then(
      () => setProblem(''),
      (error: unknown) => setProblem(wordsOf(error)),
    );
  };
  return (
    <section class="pane vendors" aria-labelledby="vendors">
      <h2 id="vendors">Providers</h2>
      <ul>
        {vendors.map((vendor) => (
          <Vendor key={vendor.id} vendor={vendor} onFault={(fault) => set(vendor.id, fault)} />
        ))}
      </ul>
      {problem && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
    </section>
  );
};

interface VendorProps {
  readonly vendor: VendorState;
  readonly onFault: (fault: FaultName) => void;
}

const Vendor = ({ vendor: { name, is_simulated, fault }, onFault }: VendorProps) => {
  const works = fault === 'none';
  if (!is_simulated) {
    return (
      <li>
        <span class="name">{name}</span>
        <span class="note">real provider</span>
      </li>
    );
  }
  return (
    <li class={works ? '' : 'broken'}>
      <button
        type="button"
        role="switch"
        class="switch"
        aria-checked={works}
        aria-label={`${name} works`}
        onClick={() => onFault(works ? 'status 500' : 'none')}
      />
      <span class="name">{name}</span>
      <select
        aria-label={`Behavior of ${name}`}
        value={fault}
        onChange={({ currentTarget: { value } }) => onFault(faultNames.find((name) => name === value) ?? 'none')}
      >
        {faultNames.map((name) => (
          <option key={name} value={name}>
            {namesOfFaults[name]}
          </option>
        ))}
      </select>
    </li>
  );
};
