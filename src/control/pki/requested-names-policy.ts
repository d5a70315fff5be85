/**
 * Decides which of the names that a router requests go into its certificates (ADR 0029). The identity of a router is
 * its id, which the common name and one SPIFFE URI contain: neither can be requested for another. All other names only
 * describe the router, and are kept.
 */
/** One subject alternative name, with @peculiar/x509's names of the kinds. */
export interface AlternativeName {
  readonly type: 'dns' | 'ip' | 'url' | 'email';
  readonly value: string;
}

/** One field of a subject beside the common name. */
export interface SubjectField {
  readonly type: 'C' | 'ST' | 'L' | 'O' | 'OU';
  readonly value: string;
}

/** A name of a request, with @peculiar/x509's kind of it. */
export interface RequestedName {
  readonly type: string;
  readonly value: string;
}

export interface RequestedNames {
  readonly subject: readonly RequestedName[];
  readonly alternatives: readonly RequestedName[];
}

export interface AllowedNames {
  readonly subject: readonly SubjectField[];
  readonly alternatives: readonly AlternativeName[];
  /** One sentence for each name that is not allowed. */
  readonly refused: readonly string[];
}

/** Subject fields by the upper bounds of RFC 5280, appendix A.1. The common name is decided elsewhere. */
const SUBJECT_FIELDS: Readonly<Record<string, { readonly name: string; readonly maxChars: number }>> = {
  C: { name: 'country', maxChars: 2 },
  ST: { name: 'province', maxChars: 128 },
  L: { name: 'locality', maxChars: 128 },
  O: { name: 'organization', maxChars: 64 },
  OU: { name: 'organizationalUnit', maxChars: 64 },
};
const MAX_SUBJECT_FIELDS = 16;
const COUNTRY = /^[A-Za-z]{2}$/;
/** Control and format characters would forge lines of logs and of printed certificates. */
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/u;

const DNS_NAME = /^(?:\*\.)?[a-z0-9_][a-z0-9._-]{0,252}$/i;
const EMAIL = /^[\x21-\x7e]{3,254}$/;
const URI = /^[\x21-\x7e]{1,2048}$/;
const SPIFFE = /^spiffe:/i;
const MAX_SHOWN = 80;

/** `ownSpiffeId` is the URI that the certificate contains in any case. `isIp` decides about IP literals. */
export function allowedNames(
  requested: RequestedNames,
  ownSpiffeId: string,
  isIp: (text: string) => boolean,
): AllowedNames {
  const refused: string[] = [];
  const subject: SubjectField[] = [];
  const alternatives: AlternativeName[] = [];
  for (const { type, value } of requested.subject) {
    const field = SUBJECT_FIELDS[type];
    // Routers of OpenZiti request every field of their configuration, also the empty ones.
    if (field === undefined || value === '') continue;
    const problem = subjectProblem(type, value, field.maxChars);
    if (problem !== undefined) refused.push(`the subject's ${field.name} ${problem}`);
    else if (subject.length < MAX_SUBJECT_FIELDS) subject.push({ type: type as SubjectField['type'], value });
    else refused.push(`the subject has more than ${MAX_SUBJECT_FIELDS} fields`);
  }
  for (const { type, value } of requested.alternatives) {
    if (type === 'url' && value === ownSpiffeId) continue;
    const problem = alternativeProblem(type, value, isIp);
    if (problem === undefined) alternatives.push({ type: type as AlternativeName['type'], value });
    else refused.push(`${shown(value)} ${problem}`);
  }
  return { subject, alternatives, refused: [...new Set(refused)] };
}

function subjectProblem(type: string, value: string, maxChars: number): string | undefined {
  if (type === 'C' && !COUNTRY.test(value)) return 'must be two letters, such as DE';
  if (value.trim() === '') return 'is empty';
  if ([...value].length > maxChars) return `has more than ${maxChars} characters`;
  return UNPRINTABLE.test(value) ? 'has characters that cannot be printed' : undefined;
}

function alternativeProblem(
  type: string,
  value: string,
  isIp: (text: string) => boolean,
): string | undefined {
  switch (type) {
    case 'dns':
      return DNS_NAME.test(value) ? undefined : 'is no DNS name';
    case 'ip':
      return isIp(value) ? undefined : 'is no IP address';
    case 'email':
      return EMAIL.test(value) ? undefined : 'is no e-mail address';
    case 'url':
      if (SPIFFE.test(value)) return 'is a SPIFFE id, which only the control plane assigns';
      return URI.test(value) ? undefined : 'is no URI';
    default:
      return 'is no DNS name, IP address, URI or e-mail address';
  }
}

function shown(value: string): string {
  const printable = value.replaceAll(new RegExp(UNPRINTABLE, 'gu'), '?');
  return printable.length > MAX_SHOWN ? `${printable.slice(0, MAX_SHOWN)}…` : printable;
}
