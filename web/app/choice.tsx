import { useId } from 'preact/hooks';

interface ChoiceProps<Value extends string> {
  readonly label: string;
  readonly options: readonly (readonly [value: Value, text: string])[];
  readonly value: Value;
  readonly choose: (value: Value) => void;
}

/** A choice of one option as a row of radio buttons. Arrow keys move between them. */
export const Choice = <Value extends string>({ label, options, value, choose }: ChoiceProps<Value>) => {
  const name = useId();
  return (
    <fieldset class="choice">
      <legend class="unseen">{label}</legend>
      {options.map(([option, text]) => (
        <label key={option}>
          <input type="radio" name={name} checked={option === value} onChange={() => choose(option)} />
          <span>{text}</span>
        </label>
      ))}
    </fieldset>
  );
};
