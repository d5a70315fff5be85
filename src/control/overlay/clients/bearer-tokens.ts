/** The tokens that a request carries as `Authorization: Bearer`. */
import type { FastifyRequest } from 'fastify';

/** As many as SDKs send. */
const MAX_BEARER_TOKENS = 3;

/** Returns the first tokens of the request. */
export function bearerTokensOf(request: FastifyRequest): readonly string[] {
  const headers = request.raw.headersDistinct['authorization'] ?? [];
  const tokens = headers.flatMap((header) => /^bearer +([A-Za-z0-9._-]+)$/i.exec(header)?.[1] ?? []);
  return tokens.slice(0, MAX_BEARER_TOKENS);
}
