export type MessengerUser = {
  /** Also that of the chat with the bot. */
  readonly id: number;
  readonly firstName: string;
  readonly language: 'en' | 'ru';
};

export type ChatMessage = {
  readonly id: number;
  readonly from: 'user' | 'bot';
  /** As it is read, without tags. */
  readonly text: string;
  readonly spans: readonly TextSpan[];
  readonly buttons: readonly (readonly ChatButton[])[];
};

/** UTF-16 units of the text that are shown in another way. */
export type TextSpan = {
  readonly kind: 'bold' | 'code' | 'link';
  readonly offset: number;
  readonly length: number;
  /** Of a link. */
  readonly url?: string | undefined;
};

export type ChatButton = { readonly kind: 'app' | 'link'; readonly text: string; readonly url: string };
