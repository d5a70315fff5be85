/**
 * The types of auth providers, one row each. Schema, validation, secrets, sign-ins, the console's form, commands, API
 * description and reference derive from the rows, so that a new type is a file beside this one and a row here.
 */
import { apiKey } from './api-key.ts';
import { github } from './github.ts';
import { gitlab } from './gitlab.ts';
import { google } from './google.ts';
import { microsoft } from './microsoft.ts';
import { openIdConnect } from './openid-connect.ts';
import type { ProviderType } from './provider-type.ts';

const ROWS = {
  OIDC: openIdConnect,
  API_KEY: apiKey,
  GOOGLE: google,
  GITHUB: github,
  MICROSOFT: microsoft,
  GITLAB: gitlab,
} as const;

export type AuthProviderType = keyof typeof ROWS;

export const PROVIDER_TYPES: Readonly<Record<AuthProviderType, ProviderType>> = ROWS;

export const AUTH_PROVIDER_TYPES = Object.keys(ROWS) as readonly AuthProviderType[];

export function isProviderType(text: string): text is AuthProviderType {
  return Object.hasOwn(ROWS, text);
}

/** Whether callers prove themselves by keys that the provider's data has. No type that this version does not know does. */
export function hasKeys(type: string): boolean {
  return isProviderType(type) && PROVIDER_TYPES[type].protocol === 'keys';
}

/** Whether sign-ins or tokens of the provider prove who a person is, with an email address or claims. Keys do not. */
export function provesPeople(type: string): boolean {
  return !hasKeys(type);
}

/** Whether gateways accept tokens that the provider issues to programs. */
export function acceptsTokens(type: string): boolean {
  return isProviderType(type) && PROVIDER_TYPES[type].openId?.acceptsTokens === true;
}

/** The types that people log in with, for texts: `OIDC, GOOGLE or GITHUB`. */
export const LOGIN_TYPES_TEXT: string = AUTH_PROVIDER_TYPES.filter(provesPeople)
  .join(', ')
  .replace(/, (?=[^,]*$)/, ' or ');
