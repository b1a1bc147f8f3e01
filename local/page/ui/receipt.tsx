import { useState } from 'preact/hooks';
import { wordsOf } from './asking.ts';
import { CopyButton } from './copy-button.tsx';
import { readError, receiptPath } from './reading.ts';

/** Receipt of a request, loaded when it is opened (BILL-15). */
export const Receipt = ({ requestId, apiKey }: { requestId: string; apiKey: string }) => {
  const [shown, setShown] = useState('');
  const load = (): void => {
    fetchReceipt(requestId, apiKey).then(setShown, (error: unknown) => setShown(wordsOf(error)));
  };
  return (
    <details class="receipt" onToggle={({ currentTarget: { open } }) => open && load()}>
      <summary>Receipt</summary>
      <pre>{shown || 'Loading'}</pre>
      <CopyButton label="Copy receipt" text={() => shown} />
    </details>
  );
};

const fetchReceipt = async (requestId: string, apiKey: string): Promise<string> => {
  const path = receiptPath(requestId);
  const response = await fetch(path, { headers: { authorization: `Bearer ${apiKey}` } });
  if (response.ok) return JSON.stringify(await response.json(), null, 2);
  return `GET ${path}: ${(await readError(response)).message}`;
};
