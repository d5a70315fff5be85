/** The place where the console runs, as its document names it. It is read once. */

export interface ConsolePlace {
  /** Path of the console, with the prefix of a proxy: `/console`. */
  readonly base: string;
  /** The build that the document was served for. */
  readonly build: string;
  /** The address of the Management API, without a slash at the end. */
  readonly baseUrl: string;
  /** The control plane's version; empty where it is not known. */
  readonly version: string;
}

function metaOf(name: string): string {
  return document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? '';
}

export const place: ConsolePlace = {
  base: metaOf('frontdoor-console-base') || '/console',
  build: metaOf('frontdoor-console-build'),
  baseUrl: metaOf('frontdoor-base-url') || window.location.origin,
  version: metaOf('frontdoor-version'),
};

/** The Management API's address: the console lies below it, also behind a proxy, through which the browser came. */
export function apiUrlHere(): string {
  return window.location.origin + place.base.replace(/\/console$/, '');
}

/** The nonce that the policy of the document allows styles by. */
export function styleNonce(): string {
  return document.querySelector<HTMLElement>('#nonce')?.nonce ?? '';
}
