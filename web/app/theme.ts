/** Red, green and blue, 0 to 255. */
type Colour = readonly [red: number, green: number, blue: number];

export type Scheme = 'light' | 'dark';

export interface Theme {
  readonly scheme: Scheme;
  /** Background colors of the messenger on which this page's texts are readable. */
  readonly backgrounds: Readonly<Record<string, string>>;
}

/** Text colors of `style.css` with the lowest contrast, which must be readable on the background. */
const palest: Readonly<Record<Scheme, readonly string[]>> = {
  light: ['#565e6c', '#1d5bd0', '#b3261e', '#176c37'],
  dark: ['#a3adbb', '#8ab6ff', '#ff9a91', '#71d996'],
};

/** WCAG 2.2, level AA. */
const CONTRAST_MIN = 4.5;

/** Undefined if the messenger sets no background. */
export const readTheme = (params: unknown): Theme | undefined => {
  const card = colourNamed(params, 'section_bg_color') ?? colourNamed(params, 'bg_color');
  if (!card) return undefined;
  const scheme = luminanceOf(card) < 0.18 ? 'dark' : 'light';
  const page = colourNamed(params, 'secondary_bg_color') ?? card;
  const isReadable = [card, page].every((behind) =>
    palest[scheme].every((text) => contrastOf(parseColour(text) ?? card, behind) >= CONTRAST_MIN),
  );
  return { scheme, backgrounds: isReadable ? { '--card': toText(card), '--page': toText(page) } : {} };
};

/** Applies the messenger's theme, otherwise the system's, now and when it changes. */
export const applyTheme = (page: Window, params: unknown): void => {
  const root = page.document.documentElement;
  const theme = readTheme(params);
  if (theme) {
    root.dataset.scheme = theme.scheme;
    for (const [name, colour] of Object.entries(theme.backgrounds)) root.style.setProperty(name, colour);
    return;
  }
  const prefersDark = page.matchMedia('(prefers-color-scheme: dark)');
  const follow = (): void => {
    root.dataset.scheme = prefersDark.matches ? 'dark' : 'light';
  };
  follow();
  prefersDark.addEventListener('change', follow);
};

const colourNamed = (params: unknown, name: string): Colour | undefined => {
  if (typeof params !== 'object' || params === null) return undefined;
  const value: unknown = Object.entries(params).find(([key]) => key === name)?.[1];
  return typeof value === 'string' ? parseColour(value) : undefined;
};

const parseColour = (text: string): Colour | undefined => {
  const [, red, green, blue] = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(text) ?? [];
  return red && green && blue ? [parseInt(red, 16), parseInt(green, 16), parseInt(blue, 16)] : undefined;
};

const toText = (colour: Colour): string => `#${colour.map((part) => part.toString(16).padStart(2, '0')).join('')}`;

/** Source: https://www.w3.org/TR/WCAG22/#dfn-relative-luminance */
const luminanceOf = (colour: Colour): number => {
  const [red = 0, green = 0, blue = 0] = colour.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
};

export const contrastOf = (one: Colour, other: Colour): number => {
  const [dark = 0, light = 0] = [luminanceOf(one), luminanceOf(other)].sort((left, right) => left - right);
  return (light + 0.05) / (dark + 0.05);
};
