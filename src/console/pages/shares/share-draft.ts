/** A new share while its form is filled in, and the changes of an existing one. Pure. */
import type { AnswerOf, BodyOf } from '#contract';
import type { ShareAnswer } from '#contract/schemas';
import {
  BACKEND_MODE_TABLE,
  folderTarget,
  ingressKindsOf,
  isPublicStream,
  modeOfText,
  type IngressKind,
} from '#domain/backend-modes';

export const STEPS = ['what', 'where', 'who'] as const;
export type ShareStep = (typeof STEPS)[number];

export interface ShareDraft {
  readonly environmentId: string;
  readonly target: string;
  readonly shareMode: 'public' | 'private';
  /** '' for a name that the control plane chooses. */
  readonly name: string;
  /** Empty for the default frontend. */
  readonly frontendIds: readonly string[];
  /** How clients reach a public share that does not speak HTTP. */
  readonly ingress: IngressKind;
  /** As typed; '' for any free one. Only with the ingress `port`. */
  readonly port: string;
  /** Who may come in to a public share; '' while nothing is chosen: the form proposes nothing. */
  readonly guard: 'providers' | 'everybody' | '';
  readonly authProviderIds: readonly string[];
  readonly grants: readonly string[];
}

export const EMPTY_DRAFT: ShareDraft = {
  environmentId: '',
  target: '',
  shareMode: 'public',
  name: '',
  frontendIds: [],
  ingress: 'port',
  port: '',
  guard: '',
  authProviderIds: [],
  grants: [],
};

const STEP_OF_FIELD: Readonly<Record<string, ShareStep>> = {
  environmentId: 'what',
  target: 'what',
  shareMode: 'where',
  name: 'where',
  frontendIds: 'where',
  ingress: 'where',
  ingressPort: 'where',
  backendMode: 'where',
  authProviderIds: 'who',
  grants: 'who',
};

/** The step that has the field of a message of the API. */
export function stepOfField(field: string): ShareStep | undefined {
  return STEP_OF_FIELD[field.split(/[.[]/)[0]!];
}

type Reached = Pick<ShareDraft, 'shareMode' | 'target'>;

/** Whether gateways pass the bytes of the share on unread, so that nobody can sign in. */
export function isStream({ shareMode, target }: Reached): boolean {
  return isPublicStream(shareMode, backendModeOf(completedTarget(target)));
}

/** The ways in which clients can reach it; none for HTTP and private shares. */
export function ingressKinds(draft: Reached): readonly IngressKind[] {
  return isStream(draft) ? ingressKindsOf(backendModeOf(completedTarget(draft.target))) : [];
}

/** The chosen way, if its kind of service has it. */
export function ingressOf(draft: Reached & Pick<ShareDraft, 'ingress'>): IngressKind {
  return ingressKinds(draft).find((kind) => kind === draft.ingress) ?? 'port';
}

export type IngressDraft = Reached & Pick<ShareDraft, 'ingress' | 'port'>;

export function hasPort(draft: Reached & Pick<ShareDraft, 'ingress'>): boolean {
  return isStream(draft) && ingressOf(draft) === 'port';
}

/** The number of a typed port. The control plane judges it. */
export function typedPort(text: string): number | null {
  return text.trim() === '' ? null : Number(text);
}

export type Lack = 'environmentId' | 'target' | 'guard' | 'authProviderIds';

/** The field that has to be filled in before the next step; undefined if there is none. */
export function lackOf(draft: ShareDraft, step: ShareStep): Lack | undefined {
  if (step === 'what') {
    if (draft.environmentId === '') return 'environmentId';
    return draft.target.trim() === '' ? 'target' : undefined;
  }
  if (step === 'where' || draft.shareMode === 'private') return undefined;
  if (isStream(draft)) return draft.guard === 'everybody' ? undefined : 'guard';
  if (draft.guard === '') return 'guard';
  return draft.guard === 'providers' && draft.authProviderIds.length === 0 ? 'authProviderIds' : undefined;
}

/**
 * `3000`, `localhost:3000` and `/srv/www` are what people type for `http://127.0.0.1:3000`, `http://localhost:3000` and
 * `file:///srv/www`.
 */
export function completedTarget(typed: string): string {
  const text = typed.trim();
  if (/^\d{1,5}$/.test(text)) return `http://127.0.0.1:${text}`;
  if (text.startsWith('/')) return folderTarget(text);
  return text === '' || text.includes('://') ? text : `http://${text}`;
}

/** The options of a target, by name; none for most kinds of targets. */
export function targetOptions(target: string): Readonly<Record<string, boolean>> {
  const { options = {} } = BACKEND_MODE_TABLE[backendModeOf(target)];
  const chosen = target.includes('?') ? target.slice(target.indexOf('?') + 1).split('&') : [];
  return Object.fromEntries(Object.keys(options).map((name) => [name, chosen.includes(name)]));
}

/** The target with one option switched on or off. */
export function withTargetOption(target: string, name: string, isOn: boolean): string {
  const options = Object.entries({ ...targetOptions(target), [name]: isOn });
  const chosen = options.filter(([, isChosen]) => isChosen).map(([option]) => option);
  return `${target.split('?', 1)[0]}${chosen.length === 0 ? '' : `?${chosen.join('&')}`}`;
}

type BackendMode = BodyOf<'createShare'>['backendMode'];

/** The only mode in which a target is served. The control plane refuses targets that it does not know. */
function backendModeOf(target: string): BackendMode {
  return modeOfText(target) ?? 'proxy';
}

export function newShareOf(draft: ShareDraft): BodyOf<'createShare'> {
  const { environmentId, shareMode, frontendIds, authProviderIds, grants } = draft;
  const name = draft.name.trim();
  const isPublic = shareMode === 'public';
  const target = completedTarget(draft.target);
  return {
    environmentId,
    target,
    shareMode,
    backendMode: backendModeOf(target),
    ...(name === '' ? {} : { name }),
    ...(isPublic && frontendIds.length > 0 ? { frontendIds: [...frontendIds] } : {}),
    ...(isStream(draft) ? { ingress: ingressOf(draft) } : {}),
    ...(hasPort(draft) && draft.port.trim() !== '' ? { ingressPort: typedPort(draft.port) } : {}),
    ...(isPublic && !isStream(draft) && draft.guard === 'providers'
      ? { authProviderIds: [...authProviderIds] }
      : {}),
    ...(isPublic ? {} : { grants: [...grants] }),
  };
}

/** The address that a share of this name has on a frontend. */
export function addressOn(urlTemplate: string, name: string): string {
  return urlTemplate.replaceAll('{token}', () => (name.trim() === '' ? '…' : name.trim().toLowerCase()));
}

/** The address that a share of a stream has at the gateways of a frontend. */
export function streamAddressOn(urlTemplate: string, draft: ShareDraft): string {
  const { name, port } = draft;
  const { hostname, port: secure } = new URL(addressOn(urlTemplate, name.trim() === '' ? 'name' : name));
  const scheme = backendModeOf(completedTarget(draft.target)) === 'udpTunnel' ? 'udp' : 'tcp';
  if (hasPort(draft)) return `${scheme}://${hostname}:${port.trim() === '' ? '…' : port.trim()}`;
  return `tls://${hostname}${urlTemplate.startsWith('https:') && secure !== '' ? `:${secure}` : ''}`;
}

/** The command by which the agent of a granted machine opens a private share. Tokens have no sign that a shell reads. */
export function accessCommand({ token, target }: Pick<ShareAnswer, 'token' | 'target'>): string {
  const udp = BACKEND_MODE_TABLE[backendModeOf(target)].speaks === 'datagrams' ? ' --udp' : '';
  return `frontdoor agent access open ${token} --listen 127.0.0.1:9000${udp}`;
}

type Share = Pick<
  AnswerOf<'getShare'>,
  'target' | 'shareMode' | 'frontendIds' | 'ingress' | 'ingressPort' | 'grants' | 'reserved'
>;

/** The fields of a share that its settings change. */
export interface ShareSettings {
  readonly target: string;
  readonly shareMode: 'public' | 'private';
  readonly frontendIds: readonly string[];
  readonly ingress: IngressKind;
  /** As typed; '' for the one that it has, or any. */
  readonly port: string;
  readonly grants: readonly string[];
  readonly reserved: boolean;
}

export function settingsOf(share: Share): ShareSettings {
  const { target, frontendIds, ingressPort, grants, reserved } = share;
  const shareMode = share.shareMode === 'private' ? 'private' : 'public';
  const port = ingressPort === null ? '' : String(ingressPort);
  return { target, shareMode, frontendIds, ingress: share.ingress ?? 'port', port, grants, reserved };
}

/** The changes of the settings; undefined: none. */
export function changesOf(before: ShareSettings, after: ShareSettings): BodyOf<'changeShare'> | undefined {
  const target = completedTarget(after.target);
  const backendMode = backendModeOf(target);
  const isPublic = after.shareMode === 'public';
  const isOtherMode = after.shareMode !== before.shareMode;
  const changes = {
    ...(target === before.target ? {} : { target }),
    ...(backendMode === backendModeOf(before.target) ? {} : { backendMode }),
    ...(isOtherMode ? { shareMode: isPublic ? ('public' as const) : ('private' as const) } : {}),
    ...(isPublic && (isOtherMode || !isSameSet(before.frontendIds, after.frontendIds))
      ? { frontendIds: [...after.frontendIds] }
      : {}),
    ...(!isPublic && (isOtherMode || !isSameSet(before.grants, after.grants))
      ? { grants: [...after.grants] }
      : {}),
    ...(isStream(after) && ingressOf(after) !== before.ingress ? { ingress: ingressOf(after) } : {}),
    ...(hasPort(after) && after.port.trim() !== '' && after.port.trim() !== before.port
      ? { ingressPort: typedPort(after.port) }
      : {}),
    ...(after.reserved === before.reserved ? {} : { reserved: after.reserved }),
  };
  return Object.keys(changes).length === 0 ? undefined : changes;
}

function isSameSet(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((each) => b.includes(each));
}
