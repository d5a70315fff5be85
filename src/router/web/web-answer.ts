/** What the web listener answers, whichever version of HTTP it came by. The status is always 200. */
import { promisify } from 'node:util';
import { brotliCompress, deflate, gzip } from 'node:zlib';
import { contentEncodingFor, type ContentEncoding } from './content-encoding-policy.ts';

export interface WebRequest {
  readonly method: string;
  /** As it came: path and query. */
  readonly target: string;
  readonly acceptEncoding: string | undefined;
}

export interface WebContent {
  readonly contentType: string;
  readonly text: string;
}

export interface WebAnswer {
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** Makes the content; `query` is what stands behind the `?`. */
export type WebApi = (path: string, query: URLSearchParams, method: string) => WebContent;
export type Answerer = (request: WebRequest) => Promise<WebAnswer>;

const ENCODERS: Readonly<Record<ContentEncoding, (bytes: Uint8Array) => Promise<Uint8Array>>> = {
  gzip: promisify<Uint8Array, Uint8Array>(gzip),
  deflate: promisify<Uint8Array, Uint8Array>(deflate),
  br: promisify<Uint8Array, Uint8Array>(brotliCompress),
};

/** `newAddress`: where clients will find the listener from now on. */
export function answererOf(api: WebApi, newAddress: string | undefined): Answerer {
  return async ({ method, target, acceptEncoding }) => {
    const [path = '', query = ''] = target.split('?', 2);
    const { contentType, text } = api(path, new URLSearchParams(query), method);
    const plain = new TextEncoder().encode(text);
    const encoding = contentEncodingFor(acceptEncoding);
    const body = encoding === undefined ? plain : await ENCODERS[encoding](plain);
    return {
      headers: {
        'content-type': contentType,
        'content-length': String(body.length),
        vary: 'accept-encoding',
        ...(encoding === undefined ? {} : { 'content-encoding': encoding }),
        ...(newAddress === undefined ? {} : { 'ziti-ctrl-address': `https://${newAddress}` }),
      },
      body,
    };
  };
}
