/** Values that a recording left out because they may be secrets, and the reasons why a body is not whole. Pure. */

/** The gateway puts it in the place of a value that may be a secret: of a header, of a field of a form or of JSON, in a query. */
export const LEFT_OUT = '********';

interface RecordedBody {
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  /** The kept bytes in base64; null: none. */
  readonly body: string | null;
  readonly bodyIsWhole: boolean;
}

/**
 * Why a body is not whole. `cut`: its beginning was kept. `secrets`: the gateway keeps nothing of JSON and of forms in which it
 * cannot find the secrets. `not-kept`: no bodies were to be kept, or there was no room.
 */
export type BodyGap = 'cut' | 'secrets' | 'not-kept';

/** Undefined for a whole body. */
export function bodyGap({ headers, body, bodyIsWhole }: RecordedBody): BodyGap | undefined {
  if (bodyIsWhole) return undefined;
  if (body !== null) return 'cut';
  const type = headers.find(({ name }) => name.toLowerCase() === 'content-type')?.value ?? '';
  return type === '' || /json|form-urlencoded|multipart/i.test(type) ? 'secrets' : 'not-kept';
}
