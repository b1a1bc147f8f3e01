export type MessengerUser = {
  /** Id of the user, and also of the chat with the bot. */
  readonly id: number;
  readonly firstName: string;
  readonly language: 'en' | 'ru';
};

export type ChatMessage = {
  readonly id: number;
  readonly from: 'user' | 'bot';
  /** Visible text, without tags. */
  readonly text: string;
  readonly spans: readonly TextSpan[];
  readonly buttons: readonly (readonly ChatButton[])[];
};

/** Formatted ranges of the text, in UTF-16 units. */
export type TextSpan = {
  readonly kind: 'bold' | 'code' | 'link';
  readonly offset: number;
  readonly length: number;
  /** Target of a link. */
  readonly url?: string | undefined;
};

export type ChatButton = { readonly kind: 'app' | 'link'; readonly text: string; readonly url: string };
