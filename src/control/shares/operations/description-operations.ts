/**
 * The API description for programs (`/openapi.json`) and for people (`/docs`). Both are generated once per base
 * address and then served with their entity tag.
 */
import { createHash } from 'node:crypto';
import { openApiDocument, type OpenApiAddresses } from '#contract';
import { API_PAGE_POLICY, apiPage } from './api-page.ts';
import type { ApiAnswer, ApiParts, Call, Handlers } from './call.ts';
import { isHeld } from './entity-tag.ts';

type DescriptionParts = Pick<ApiParts, 'baseUrl' | 'tokenPolicy'>;

interface Description {
  readonly contentType: string;
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

const make = {
  getOpenApi: (addresses: OpenApiAddresses): Description => ({
    contentType: 'application/json; charset=utf-8',
    text: JSON.stringify(openApiDocument(addresses)),
    // The description is public, and tools in browsers read it.
    headers: { 'access-control-allow-origin': '*', 'x-content-type-options': 'nosniff' },
  }),
  getApiPage: (addresses: OpenApiAddresses): Description => ({
    contentType: 'text/html; charset=utf-8',
    text: apiPage(addresses),
    headers: {
      'content-security-policy': API_PAGE_POLICY,
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
    },
  }),
};

export const descriptionHandlers: Handlers<DescriptionParts, 'getOpenApi' | 'getApiPage'> = {
  getOpenApi: async (parts, call) => answerOf('getOpenApi', parts, call),
  getApiPage: async (parts, call) => answerOf('getApiPage', parts, call),
};

interface Made {
  readonly addresses: OpenApiAddresses;
  readonly description: Description;
  readonly tag: string;
}

/**
 * Cached by the function that returns the addresses. Each server of a process has its own, whose results do not
 * change once it listens.
 */
const made = {
  getOpenApi: new WeakMap<DescriptionParts, Made>(),
  getApiPage: new WeakMap<DescriptionParts, Made>(),
};

function answerOf(id: keyof typeof make, parts: DescriptionParts, call: Call): ApiAnswer<never> {
  const { description, tag } = madeFor(id, parts);
  const headers = { ...description.headers, etag: tag, 'cache-control': 'no-cache' };
  if (isHeld(call.request.headers['if-none-match'], tag)) return { status: 304, headers };
  return { status: 200, raw: { contentType: description.contentType, data: description.text }, headers };
}

function madeFor(id: keyof typeof make, parts: DescriptionParts): Made {
  const addresses = { baseUrl: parts.baseUrl(), authUrl: parts.tokenPolicy().issuer };
  const held = made[id].get(parts);
  if (held?.addresses.baseUrl === addresses.baseUrl && held.addresses.authUrl === addresses.authUrl)
    return held;
  const description = make[id](addresses);
  const tag = `"${createHash('sha256').update(description.text).digest('base64url').slice(0, 22)}"`;
  const fresh = { addresses, description, tag };
  made[id].set(parts, fresh);
  return fresh;
}
