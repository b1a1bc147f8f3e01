/** Selects the code, so that the reader can copy it without the clipboard API, which needs HTTPS. */
const copyText = async (code: HTMLElement): Promise<string> => {
  try {
    await navigator.clipboard.writeText(code.textContent);
    return 'Copied';
  } catch {
    getSelection()?.selectAllChildren(code);
    return 'Selected';
  }
};

const addButton = (block: HTMLElement): void => {
  const code = block.querySelector<HTMLElement>('code');
  if (!code) return;
  const button = document.createElement('button');
  Object.assign(button, { type: 'button', className: 'copy', textContent: 'Copy' });
  button.addEventListener('click', async () => {
    button.textContent = await copyText(code);
    setTimeout(() => {
      button.textContent = 'Copy';
    }, 2_000);
  });
  button.setAttribute('aria-live', 'polite');
  block.querySelector('.bar')?.append(button);
};

/** Adds a button to every block of code in an element. */
export const addCopyButtons = (root: ParentNode = document): void => {
  for (const block of root.querySelectorAll<HTMLElement>('.code')) addButton(block);
};
