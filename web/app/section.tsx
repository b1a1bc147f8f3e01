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

/** One card of the page, which the bar of sections leads to. */
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
  /** How tall the place is to be while nothing is there, so that little moves when it comes. */
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
