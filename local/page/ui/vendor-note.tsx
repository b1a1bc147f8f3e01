import type { VendorState } from './wire.ts';

/** Who answers, and whether it is broken. */
export const VendorNote = ({ vendor }: { vendor: VendorState | undefined }) => {
  if (!vendor) return null;
  const who = vendor.is_simulated ? `${vendor.name}, simulated` : `${vendor.name} itself`;
  return (
    <p class="note">
      Answered by {who}
      {vendor.fault !== 'none' && <strong class="bad"> (broken: {vendor.fault})</strong>}
    </p>
  );
};
