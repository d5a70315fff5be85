/** Written by the build from the contract's table of operations: method, path and scope of each. */
declare module 'frontdoor:operations' {
  import type { OperationId } from '#contract';

  export interface OperationLine {
    readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
    readonly path: string;
    readonly scope: string | undefined;
  }

  export const OPERATIONS: Readonly<Record<OperationId, OperationLine>>;
}

/** Written by the build from the table of types of auth providers: what forms and checks of the console need of each row. */
declare module 'frontdoor:provider-types' {
  export interface Translated<T = string> {
    readonly en: T;
    readonly de: T;
  }

  export interface ProviderSetup {
    readonly first: Translated<readonly string[]>;
    readonly redirects: Translated;
    readonly last: Translated<readonly string[]>;
  }

  export interface ProviderTypeFacts {
    readonly hasKeys: boolean;
    readonly hasMetadata: boolean;
    readonly displayName: Translated;
    readonly description: Translated;
    readonly steps: ProviderSetup;
    readonly guides?: Readonly<
      Record<string, { readonly displayName: string; readonly steps: ProviderSetup }>
    >;
    readonly fields: Readonly<
      Record<string, { readonly label: Translated; readonly help?: Partial<Translated> }>
    >;
  }

  export const PROVIDER_TYPE_FACTS: Readonly<Record<string, ProviderTypeFacts>>;
}

/** A file of the contract, which the build takes in. */
declare module 'frontdoor:curl-command' {
  import type { CurlRequest } from '#contract';

  export function curlCommand(request: CurlRequest, addresses: readonly string[], leftOut: string): string;
}

/** The version of the product that the console was built with. */
declare module 'frontdoor:version' {
  export const VERSION: string;
}

/** Style sheets, which the build takes in. */
declare module '*.css';
