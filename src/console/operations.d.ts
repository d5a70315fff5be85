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

/** A file of the contract, which the build takes in. */
declare module 'frontdoor:curl-command' {
  import type { CurlRequest } from '#contract';

  export function curlCommand(request: CurlRequest, addresses: readonly string[], leftOut: string): string;
}

/** Style sheets, which the build takes in. */
declare module '*.css';
