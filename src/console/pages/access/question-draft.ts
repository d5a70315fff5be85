/** A question about access as a person fills it in, and as the API takes it. Empty fields are left out. Pure. */
import type { AccessQuestion } from '#contract/schemas';
import { linesOf } from './policy-draft.ts';

/** How the request shows who sends it. */
export type Credential = 'none' | 'person' | 'key' | 'basic';

export interface QuestionDraft {
  readonly credential: Credential;
  readonly providerId: string;
  readonly email: string;
  readonly emailVerified: boolean;
  /** Lines. */
  readonly groups: string;
  /** JSON of an object. */
  readonly claims: string;
  readonly keyName: string;
  readonly basicUser: string;
  readonly address: string;
  readonly host: string;
  readonly path: string;
  readonly method: string;
  readonly origin: string;
  readonly preflight: boolean;
  readonly certificateName: string;
  /** ISO 8601; '': now. */
  readonly at: string;
}

export const EMPTY_QUESTION: QuestionDraft = {
  credential: 'none',
  providerId: '',
  email: '',
  emailVerified: true,
  groups: '',
  claims: '',
  keyName: '',
  basicUser: '',
  address: '',
  host: '',
  path: '/',
  method: 'GET',
  origin: '',
  preflight: false,
  certificateName: '',
  at: '',
};

/** Returns undefined if the claims are no JSON object. */
export function questionOf(draft: QuestionDraft): AccessQuestion | undefined {
  const claims = claimsOf(draft.claims);
  if (claims === undefined) return undefined;
  const { address, host, path, method, origin, certificateName, at, preflight } = draft;
  return {
    ...given({ address, host, path, origin, certificateName, at }),
    method,
    ...(preflight && method === 'OPTIONS' ? { preflight } : {}),
    ...identityOf(draft, claims),
  };
}

function identityOf(draft: QuestionDraft, claims: Readonly<Record<string, unknown>>): AccessQuestion {
  const { credential, providerId, email, emailVerified, keyName, basicUser } = draft;
  switch (credential) {
    case 'none':
      return {};
    case 'key':
      return given({ keyName, providerId });
    case 'basic':
      return given({ basicUser });
    case 'person':
      return {
        ...given({ email, providerId }),
        ...(emailVerified ? {} : { emailVerified }),
        // Makes it a person, even without an address.
        groups: linesOf(draft.groups),
        ...(Object.keys(claims).length === 0 ? {} : { claims }),
      };
  }
}

function given(texts: Readonly<Record<string, string>>): AccessQuestion {
  const entries = Object.entries(texts).map(([name, text]) => [name, text.trim()] as const);
  return Object.fromEntries(entries.filter(([, text]) => text !== ''));
}

function claimsOf(text: string): Readonly<Record<string, unknown>> | undefined {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Readonly<Record<string, unknown>>) : undefined;
  } catch {
    return undefined;
  }
}
