/** The address that clients know the Management API by, when it is not the one that it listens on. */
import { FrontdoorError } from '#base';

export interface PublicApiUrl {
  /** Without a final slash. */
  readonly url: string;
  /** Its path, with which requests arrive here; '' when it has none. */
  readonly pathPrefix: string;
}

/** Throws `invalid` for what is no http or https address, or says more than one. */
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
