/** The responses of the web listener for all versions of HTTP. The status is always 200. */
import { promisify } from 'node:util';
import { brotliCompress, deflate, gzip } from 'node:zlib';
import { definedFields } from '#base';
import { contentEncodingFor, type ContentEncoding } from './content-encoding-policy.ts';

export interface WebRequest {
  readonly method: string;
  /** Path and query as received. */
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

/** Creates the content; `query` is the part after the `?`. */
export type WebApi = (path: string, query: URLSearchParams, method: string) => WebContent;
export type Answerer = (request: WebRequest) => Promise<WebAnswer>;

const ENCODERS: Readonly<Record<ContentEncoding, (bytes: Uint8Array) => Promise<Uint8Array>>> = {
  gzip: promisify<Uint8Array, Uint8Array>(gzip),
  deflate: promisify<Uint8Array, Uint8Array>(deflate),
  br: promisify<Uint8Array, Uint8Array>(brotliCompress),
};

/** `newAddress` is the future address of the listener for clients. */
export function answererOf(api: WebApi, newAddress: string | undefined): Answerer {
  return async ({ method, target, acceptEncoding }) => {
    const [path = '', query = ''] = target.split('?', 2);
    const { contentType, text } = api(path, new URLSearchParams(query), method);
    const plain = new TextEncoder().encode(text);
    const encoding = contentEncodingFor(acceptEncoding);
    const body = encoding === undefined ? plain : await ENCODERS[encoding](plain);
    return {
      headers: definedFields({
        'content-type': contentType,
        'content-length': String(body.length),
        vary: 'accept-encoding',
        'content-encoding': encoding,
        'ziti-ctrl-address': newAddress && `https://${newAddress}`,
      }),
      body,
    };
  };
}
