/** The public address of the Management API, if it differs from the one that it listens on. */
import { FrontdoorError } from '#base';

export interface PublicApiUrl {
  /** Without a trailing slash. */
  readonly url: string;
  /** Its path, with which requests arrive here; '' if there is none. */
  readonly pathPrefix: string;
}

/** Throws `invalid` for a text that is not an http or https address, or has more parts than that. */
export function parsePublicApiUrl(text: string): PublicApiUrl {
  const url = URL.parse(text);
  const isAddress =
    url !== null &&
    /^https?:$/.test(url.protocol) &&
    `${url.username}${url.password}${url.search}${url.hash}` === '' &&
    /^[A-Za-z0-9._~/-]*$/.test(url.pathname);
  if (!isAddress) {
    const message = `--public-api-url ${text} is no address such as https://api.example.com`;
    throw new FrontdoorError('invalid', 'public-api-url', message);
  }
  const pathPrefix = url.pathname.replace(/\/+$/, '');
  return { url: url.origin + pathPrefix, pathPrefix };
}
