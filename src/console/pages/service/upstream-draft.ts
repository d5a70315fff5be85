/**
 * The upstream settings of a share as a person edits them. A field of the API needs its row here, and its label and help in
 * `upstream-text.ts`, unless the command line alone sets it. Pure.
 */
import type { BodyOf } from '#contract';
import type { ShareUpstreamAnswer } from '#contract/schemas';

/** The command line sets these, which are lists of paths. */
type FieldWithoutForm = 'routes' | 'answers';
export type UpstreamField = Exclude<keyof ShareUpstreamAnswer, FieldWithoutForm>;
type HeaderRule = ShareUpstreamAnswer['requestHeaders'][number];

export interface HeaderDraft {
  readonly action: HeaderRule['action'];
  readonly name: string;
  readonly value: string;
}

/** How a field is typed, by the type of its value. '' stands for null. */
type KindOf<Value> = Value extends boolean
  ? 'flag'
  : Value extends number
    ? 'seconds'
    : Value extends readonly string[]
      ? 'list'
      : Value extends readonly HeaderRule[]
        ? 'headers'
        : Value extends 'off' | 'v1' | 'v2'
          ? 'text'
          : null extends Value
            ? 'text' | 'lines'
            : 'host' | 'message';
type DraftOf<Value> = Value extends boolean
  ? boolean
  : Value extends readonly HeaderRule[]
    ? readonly HeaderDraft[]
    : string;

export type UpstreamDraft = { readonly [Name in UpstreamField]: DraftOf<ShareUpstreamAnswer[Name]> };
export type UpstreamSection = 'requests' | 'responses' | 'unavailable' | 'certificate';

interface FieldRow<Kind> {
  readonly section: UpstreamSection;
  readonly kind: Kind;
}

/** In the order of the form. */
export const UPSTREAM_FIELDS: {
  readonly [Name in UpstreamField]: FieldRow<KindOf<ShareUpstreamAnswer[Name]>>;
} = {
  hostHeader: { section: 'requests', kind: 'host' },
  requestHeaders: { section: 'requests', kind: 'headers' },
  connectTimeoutSeconds: { section: 'requests', kind: 'seconds' },
  proxyProtocol: { section: 'requests', kind: 'text' },
  responseHeaders: { section: 'responses', kind: 'headers' },
  lenient: { section: 'responses', kind: 'flag' },
  compression: { section: 'responses', kind: 'list' },
  idleTimeoutSeconds: { section: 'responses', kind: 'seconds' },
  maintenance: { section: 'unavailable', kind: 'flag' },
  maintenanceText: { section: 'unavailable', kind: 'message' },
  maintenanceRetrySeconds: { section: 'unavailable', kind: 'seconds' },
  errorPage: { section: 'unavailable', kind: 'lines' },
  tlsPin: { section: 'certificate', kind: 'text' },
  tlsCa: { section: 'certificate', kind: 'lines' },
  tlsServerName: { section: 'certificate', kind: 'text' },
  tlsInsecure: { section: 'certificate', kind: 'flag' },
};

const NAMES = Object.keys(UPSTREAM_FIELDS) as readonly UpstreamField[];

export function fieldsOfSection(section: UpstreamSection): readonly UpstreamField[] {
  return NAMES.filter((name) => UPSTREAM_FIELDS[name].section === section);
}

/** The sections that have an effect for such a share. */
export function sectionsFor(share: {
  readonly shareMode: string;
  readonly target: string;
}): readonly UpstreamSection[] {
  const ofGateways = share.shareMode === 'public' ? (['requests', 'responses', 'unavailable'] as const) : [];
  return share.target.startsWith('https://') ? [...ofGateways, 'certificate'] : ofGateways;
}

export function upstreamDraftOf(settings: ShareUpstreamAnswer): UpstreamDraft {
  return Object.fromEntries(NAMES.map((name) => [name, draftOf(name, settings[name])])) as UpstreamDraft;
}

/** The fields that differ from what was read; undefined if there are none. */
export function upstreamChanges(
  settings: ShareUpstreamAnswer,
  draft: UpstreamDraft,
): BodyOf<'changeShareUpstream'> | undefined {
  const before = upstreamDraftOf(settings);
  const changed = NAMES.filter((name) => JSON.stringify(draft[name]) !== JSON.stringify(before[name]));
  if (changed.length === 0) return undefined;
  return Object.fromEntries(changed.map((name) => [name, valueOf(name, draft[name])]));
}

type Draft = UpstreamDraft[UpstreamField];

function draftOf(name: UpstreamField, value: ShareUpstreamAnswer[UpstreamField]): Draft {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'object') return value;
  if (UPSTREAM_FIELDS[name].kind === 'list') return (value as readonly string[]).join(', ');
  return (value as readonly HeaderRule[]).map(({ action, name, value: text = '' }) => ({
    action,
    name,
    value: text,
  }));
}

function valueOf(name: UpstreamField, draft: Draft): unknown {
  if (typeof draft === 'string') {
    const text = draft.trim();
    const { kind } = UPSTREAM_FIELDS[name];
    // The API refuses what is no number, by the name of the field.
    if (kind === 'seconds') return /^\d+$/.test(text) ? Number(text) : text;
    if (kind === 'list') return text === '' ? [] : text.split(',').map((item) => item.trim());
    return text === '' && (kind === 'text' || kind === 'lines') ? null : text;
  }
  if (typeof draft === 'boolean') return draft;
  return draft.map(({ action, name: header, value }) =>
    action === 'remove'
      ? { action, name: header.trim() }
      : { action, name: header.trim(), value: value.trim() },
  );
}

/** What a certificate that a person accepts changes, as `--target-pin` does. */
export function acceptedCertificate(fingerprint: string): Partial<UpstreamDraft> {
  return { tlsPin: fingerprint, tlsCa: '', tlsInsecure: false };
}
