/** `oidc-provider` with the types of what our tests use of it: it comes without any. */
import type { IncomingMessage, ServerResponse } from 'node:http';
// @ts-expect-error: there is no declaration of it.
import { Provider as Untyped } from 'oidc-provider';

export interface Interaction {
  readonly params: Readonly<Record<string, unknown>>;
}

export interface OidcGrant {
  addOIDCScope(scope: string): void;
  save(): Promise<string>;
}

export interface OpenIdProvider {
  readonly Client: {
    readonly prototype: {
      redirectUriAllowed: (uri: string) => boolean;
      postLogoutRedirectUriAllowed: (uri: string) => boolean;
    };
  };
  readonly Grant: new (of: { readonly accountId: string; readonly clientId: string }) => OidcGrant;
  callback(): (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  interactionDetails(request: IncomingMessage, response: ServerResponse): Promise<Interaction>;
  interactionFinished(
    request: IncomingMessage,
    response: ServerResponse,
    result: Readonly<Record<string, unknown>>,
  ): Promise<void>;
}

export const OpenIdProvider = Untyped as new (
  issuer: string,
  configuration: Readonly<Record<string, unknown>>,
) => OpenIdProvider;
