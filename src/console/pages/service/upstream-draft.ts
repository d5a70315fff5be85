/**
 * The upstream settings of a share as a person edits them. A field of the API needs its row here, and its label and help in
 * `upstream-text.ts`. Pure.
 */
import type { BodyOf } from '#contract';
import type { ShareUpstreamAnswer } from '#contract/schemas';
import { schemeFacts } from '#domain/backend-modes';
import {
  answerDraftOf,
  answerValueOf,
  routeDraftOf,
  routeValueOf,
  type AnswerDraft,
  type RouteDraft,
} from './path-drafts.ts';

export type UpstreamField = keyof ShareUpstreamAnswer;
type HeaderRule = ShareUpstreamAnswer['requestHeaders'][number];

export interface HeaderDraft {
  readonly action: HeaderRule['action'];
  readonly name: string;
  readonly value: string;
}

/** Lists whose entries have several fields. */
interface ListDrafts {
  readonly requestHeaders: readonly HeaderDraft[];
  readonly responseHeaders: readonly HeaderDraft[];
  readonly routes: readonly RouteDraft[];
  readonly answers: readonly AnswerDraft[];
}
type ListField = keyof ListDrafts;

/** How a field is typed, by the type of its value. '' stands for null. */
type KindOf<Name extends UpstreamField, Value = ShareUpstreamAnswer[Name]> = Name extends ListField
  ? 'entries'
  : Value extends boolean
    ? 'flag'
    : Value extends number
      ? 'seconds'
      : Value extends readonly string[]
        ? 'list'
        : Value extends 'off' | 'v1' | 'v2'
          ? 'text'
          : null extends Value
            ? 'text' | 'lines'
            : 'host' | 'message';
type DraftOf<Name extends UpstreamField> = Name extends ListField
  ? ListDrafts[Name]
  : ShareUpstreamAnswer[Name] extends boolean
    ? boolean
    : string;

export type UpstreamDraft = { readonly [Name in UpstreamField]: DraftOf<Name> };
export type UpstreamSection = 'requests' | 'responses' | 'paths' | 'unavailable' | 'certificate';

interface FieldRow<Kind> {
  readonly section: UpstreamSection;
  readonly kind: Kind;
}

/** In the order of the form. */
export const UPSTREAM_FIELDS: {
  readonly [Name in UpstreamField]: FieldRow<KindOf<Name>>;
} = {
  hostHeader: { section: 'requests', kind: 'host' },
  requestHeaders: { section: 'requests', kind: 'entries' },
  connectTimeoutSeconds: { section: 'requests', kind: 'seconds' },
  proxyProtocol: { section: 'requests', kind: 'text' },
  responseHeaders: { section: 'responses', kind: 'entries' },
  lenient: { section: 'responses', kind: 'flag' },
  compression: { section: 'responses', kind: 'list' },
  idleTimeoutSeconds: { section: 'responses', kind: 'seconds' },
  routes: { section: 'paths', kind: 'entries' },
  answers: { section: 'paths', kind: 'entries' },
  maintenance: { section: 'unavailable', kind: 'flag' },
  maintenanceText: { section: 'unavailable', kind: 'message' },
  maintenanceRetrySeconds: { section: 'unavailable', kind: 'seconds' },
  errorPage: { section: 'unavailable', kind: 'lines' },
  tlsPin: { section: 'certificate', kind: 'text' },
  tlsCa: { section: 'certificate', kind: 'lines' },
  tlsServerName: { section: 'certificate', kind: 'text' },
  tlsClient: { section: 'certificate', kind: 'text' },
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
  const ofGateways =
    share.shareMode === 'public' ? (['requests', 'responses', 'paths', 'unavailable'] as const) : [];
  return schemeFacts(share.target).isTls ? [...ofGateways, 'certificate'] : ofGateways;
}

export function upstreamDraftOf(settings: ShareUpstreamAnswer): UpstreamDraft {
  return Object.fromEntries(NAMES.map((name) => [name, draftOf(name, settings)])) as UpstreamDraft;
}

/** The fields that differ from what was read; undefined if there are none. */
export function upstreamChanges(
  settings: ShareUpstreamAnswer,
  draft: UpstreamDraft,
): BodyOf<'changeShareUpstream'> | undefined {
  const before = upstreamDraftOf(settings);
  const changed = NAMES.filter((name) => JSON.stringify(draft[name]) !== JSON.stringify(before[name]));
  if (changed.length === 0) return undefined;
  return Object.fromEntries(changed.map((name) => [name, valueOf(name, draft)]));
}

function draftOf(name: UpstreamField, settings: ShareUpstreamAnswer): UpstreamDraft[UpstreamField] {
  if (name === 'routes') return settings.routes.map(routeDraftOf);
  if (name === 'answers') return settings.answers.map(answerDraftOf);
  if (name === 'requestHeaders' || name === 'responseHeaders')
    return settings[name].map(({ action, name: header, value = '' }) => ({ action, name: header, value }));
  const value = settings[name];
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  return typeof value === 'object' ? value.join(', ') : value;
}

function valueOf(name: UpstreamField, drafts: UpstreamDraft): unknown {
  if (name === 'routes') return drafts.routes.map(routeValueOf);
  if (name === 'answers') return drafts.answers.map(answerValueOf);
  if (name === 'requestHeaders' || name === 'responseHeaders') return drafts[name].map(headerRuleOf);
  const draft = drafts[name];
  if (typeof draft === 'boolean') return draft;
  const text = draft.trim();
  const { kind } = UPSTREAM_FIELDS[name];
  // The API refuses what is no number, by the name of the field.
  if (kind === 'seconds') return /^\d+$/.test(text) ? Number(text) : text;
  if (kind === 'list') return text === '' ? [] : text.split(',').map((item) => item.trim());
  return text === '' && (kind === 'text' || kind === 'lines') ? null : text;
}

function headerRuleOf({ action, name, value }: HeaderDraft): HeaderRule {
  return action === 'remove'
    ? { action, name: name.trim() }
    : { action, name: name.trim(), value: value.trim() };
}

/** What a certificate that a person accepts changes, as `--target-pin` does. */
export function acceptedCertificate(fingerprint: string): Partial<UpstreamDraft> {
  return { tlsPin: fingerprint, tlsCa: '', tlsInsecure: false };
}
