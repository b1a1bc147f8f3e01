import type { Api } from './api.ts';
import type { Account } from './api-shapes.ts';
import { ConfirmDialog } from './confirm-dialog.tsx';
import { IssuedKey } from './issued-key.tsx';
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
        <IssuedKey id="new-key" apiKey={issued.key} title={texts.key.new} forget={forget} />
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
        <ConfirmDialog
          say={{ title: texts.key.confirmTitle, text: texts.key.confirm, yes: texts.key.yes, busy: texts.key.busy }}
          isBusy={step === 'busy'}
          confirm={() => void confirm(current.id)}
          cancel={cancel}
        />
      )}
    </>
  );
};
