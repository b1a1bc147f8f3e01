import { useEffect, useRef } from 'preact/hooks';
import type { Api } from './api.ts';
import type { Account, NewKey } from './api-shapes.ts';
import { ConfirmDialog } from './confirm-dialog.tsx';
import { CopyButton } from './copy-button.tsx';
import { useLanguage } from './language.ts';
import { Section, WhenLoaded } from './section.tsx';
import type { Loaded } from './use-loaded.ts';
import { type Rotation, rotationProblem, useRotation } from './use-rotation.ts';

interface KeyProps {
  readonly api: Api;
  readonly account: Loaded<Account>;
}

export const Key = ({ api, account }: KeyProps) => {
  const { texts } = useLanguage();
  const rotation = useRotation(api, account);
  const { issued, error, forget } = rotation;
  if (issued) {
    return (
      <Section id="key" title={texts.key.title}>
        <IssuedKey issued={issued} forget={forget} />
      </Section>
    );
  }
  return (
    <Section id="key" title={texts.key.title}>
      {error && (
        <p class="problem" role="alert">
          {rotationProblem(error, texts)}
        </p>
      )}
      <WhenLoaded loaded={account}>
        {({ key }) =>
          key === null ? <p class="none">{texts.key.none}</p> : <CurrentKey current={key} rotation={rotation} />
        }
      </WhenLoaded>
    </Section>
  );
};

interface CurrentKeyProps {
  readonly current: NonNullable<Account['key']>;
  readonly rotation: Rotation;
}

const CurrentKey = ({ current, rotation: { step, ask, cancel, confirm } }: CurrentKeyProps) => {
  const { texts, time } = useLanguage();
  return (
    <>
      <dl class="figures">
        <div>
          <dt>{texts.key.current}</dt>
          <dd>
            <code>{current.masked}</code>
          </dd>
        </div>
        <div>
          <dt>{texts.key.issued}</dt>
          <dd>
            <time dateTime={current.issued_at}>{time(current.issued_at, 'with-year')}</time>
          </dd>
        </div>
      </dl>
      {current.revoked && <p class="problem">{texts.key.revoked}</p>}
      <button type="button" class="danger" onClick={ask}>
        {texts.key.rotate}
      </button>
      {step !== 'resting' && (
        <ConfirmDialog isBusy={step === 'busy'} confirm={() => void confirm(current.id)} cancel={cancel} />
      )}
    </>
  );
};

const IssuedKey = ({ issued: { key }, forget }: { readonly issued: NewKey; readonly forget: () => void }) => {
  const { texts } = useLanguage();
  const shown = useRef<HTMLElement>(null);
  useEffect(() => shown.current?.focus(), []);
  return (
    <section class="issued" ref={shown} tabIndex={-1} aria-labelledby="new-key-title">
      <h3 id="new-key-title">{texts.key.new}</h3>
      <code id="new-key">{key}</code>
      <p>{texts.key.once}</p>
      <div class="together">
        <CopyButton text={key} shownIn="new-key" />
        <button type="button" onClick={forget}>
          {texts.key.done}
        </button>
      </div>
    </section>
  );
};
