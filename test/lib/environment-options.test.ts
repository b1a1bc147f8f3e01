import { expectTypeOf, test } from 'vitest';
import type * as z from 'zod';
import type { EnvironmentOptions } from '../../lib/environment-options.ts';
import type { environmentSchema } from '../../lib/environments.ts';

/** A type with all fields required and writable, at every depth. */
type Complete<Type> = Type extends readonly (infer Item)[]
  ? Complete<Item>[]
  : Type extends object
    ? { -readonly [Field in keyof Type]-?: Complete<NonNullable<Type[Field]>> }
    : Type;

/** Settings accept any value as input, because the functions get text. */
type Loose<Type> = {
  [Field in keyof Type]: Field extends 'limits' | 'videos' ? Record<keyof Type[Field], unknown> : Type[Field];
};

type Documented = Loose<Complete<EnvironmentOptions>>;
type Accepted = Loose<Complete<z.input<typeof environmentSchema>>>;

test('OPS-18 the documented options of an environment are the accepted ones', () => {
  expectTypeOf<Documented>().toEqualTypeOf<Accepted>();
});
