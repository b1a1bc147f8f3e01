import { useState } from 'preact/hooks';
import type { Model } from './api-shapes.ts';
import { Choice } from './choice.tsx';
import { CopyButton } from './copy-button.tsx';
import { useLanguage } from './language.ts';
import { Section } from './section.tsx';
import { type Client, clientNames, clients, snippetOf } from './snippets.ts';
import type { Loaded } from './use-loaded.ts';

export const Quickstart = ({ models }: { readonly models: Loaded<readonly Model[]> }) => {
  const { texts } = useLanguage();
  const [client, setClient] = useState<Client>('curl');
  const { origin } = window.location;
  const snippet = snippetOf(client, origin, models.value ?? []);
  const options = clients.map((one) => [one, clientNames[one]] as const);
  return (
    <Section id="quickstart" title={texts.quickstart.title}>
      <p>{texts.quickstart.intro}</p>
      <p class="address">
        <span class="muted">{texts.quickstart.address}</span> <code>{origin}/v1</code>
      </p>
      <p>
        <a href="/api-reference/clients" target="_blank" rel="noreferrer">
          {texts.quickstart.guide}
        </a>
      </p>
      <Choice label={texts.quickstart.choose} options={options} value={client} choose={setClient} />
      <pre id="snippet">
        <code>{snippet}</code>
      </pre>
      <CopyButton key={client} text={snippet} shownIn="snippet" />
    </Section>
  );
};
