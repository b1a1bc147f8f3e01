import type { ComponentChildren } from 'preact';
import { useLanguage } from './language.ts';
import { Problem } from './problem.tsx';
import type { Loaded } from './use-loaded.ts';

interface SectionProps {
  readonly id: string;
  readonly title: string;
  readonly beside?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** One card of the page, a target of the section bar. */
export const Section = ({ id, title, beside, children }: SectionProps) => (
  <section id={id} class="card" aria-labelledby={`${id}-title`}>
    <div class="card-head">
      <h2 id={`${id}-title`}>{title}</h2>
      {beside}
    </div>
    {children}
  </section>
);

interface WhenLoadedProps<T> {
  readonly loaded: Loaded<T>;
  /** Height of the section before its content arrives, so that the layout moves little. */
  readonly room?: 'tall';
  readonly children: (value: T) => ComponentChildren;
}

export const WhenLoaded = <T,>({ loaded, room, children }: WhenLoadedProps<T>) => {
  const { texts } = useLanguage();
  const { value, error, isLoading, reload } = loaded;
  return (
    <div aria-busy={isLoading}>
      {error && <Problem error={error} retry={reload} />}
      {value !== undefined && children(value)}
      {value === undefined && isLoading && <p class={`loading ${room ?? ''}`}>{texts.loading}</p>}
    </div>
  );
};
