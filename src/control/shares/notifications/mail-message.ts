/** Messages as one mail for people: a subject, plain text, and simple HTML. Names in it are what tenants typed, never markup or headers. */
import { jsonReader, Part, Type, type ShapeOf } from '#base/shapes';
import { isNotificationEventType, type NotificationEventType } from '#contract';
import { html, type Html } from '../../html/mod.ts';
import type { NotificationMessage } from './destination-channel.ts';

export interface MailText {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

export interface MailPlace {
  /** Address of the console; undefined if this installation has none. */
  readonly consoleUrl: string | undefined;
  readonly destination: { readonly id: string; readonly name: string };
}

const MAX_SUBJECT_CHARS = 120;
const MAX_NAME_CHARS = 200;
/** In one mail. Further ones are counted. */
const MAX_LINES = 200;
const SUBJECT_PREFIX = '[Frontdoor] ';

const HEADINGS: Readonly<Record<NotificationEventType, readonly [one: string, many: string]>> = {
  'share.failing': ['A share is failing', 'shares are failing'],
  'share.healthy': ['A share is healthy again', 'shares are healthy again'],
  'agent.away': ['An agent is away', 'agents are away'],
  'agent.back': ['An agent is connected again', 'agents are connected again'],
  'certificate.expiring': ['A certificate expires soon', 'certificates expire soon'],
  'sign-in.new-network': ['A sign-in from a new network', 'sign-ins from new networks'],
  'quota.reached': ['A limit is nearly or fully used', 'limits are nearly or fully used'],
  'router.lost': ['A router is lost', 'routers are lost'],
  'router.back': ['A router is connected again', 'routers are connected again'],
};

const resourceSchema = Type.Object({
  kind: Part.word('share', 'agent', 'router', 'domain', 'person', 'quota'),
  id: Part.text(),
  name: Type.Optional(Part.text()),
  frontdoorId: Type.Optional(Part.nullable(Part.text())),
  target: Type.Optional(Part.text()),
  reason: Type.Optional(Part.nullable(Part.text())),
  shares: Type.Optional(Part.count()),
  expiresAt: Type.Optional(Part.text()),
  network: Type.Optional(Part.text()),
  browser: Type.Optional(Part.text()),
  used: Type.Optional(Part.count()),
  most: Type.Optional(Part.count()),
});
type MailResource = ShapeOf<typeof resourceSchema>;

const readData = jsonReader(
  Type.Object({
    total: Part.withDefault(Part.count(), 0),
    resources: Part.withDefault(Part.lossyList('resources', resourceSchema), []),
    message: Type.Optional(Part.text()),
  }),
);

interface Line {
  readonly text: string;
  readonly detail: string;
  readonly path: string | undefined;
}

interface Section {
  readonly heading: string;
  /** The time of the event. */
  readonly at: string;
  readonly lines: readonly Line[];
  /** Resources that have no line. */
  readonly left: number;
}

export function mailTextOf(messages: readonly NotificationMessage[], place: MailPlace): MailText {
  const counts = new Map<string, number>();
  const sections: Section[] = [];
  let free = MAX_LINES;
  let only = '';
  for (const message of messages) {
    const { total, at, lines: all, note } = contentOf(message);
    counts.set(message.type, (counts.get(message.type) ?? 0) + Math.max(total, 1));
    const lines = all.slice(0, free);
    free -= lines.length;
    only = lines[0]?.text ?? '';
    sections.push({
      heading: note ?? headingOf(message.type, total),
      at,
      lines,
      left: Math.max(total - lines.length, 0),
    });
  }
  const headings = [...counts].map(([type, count]) => headingOf(type, count));
  const summary = counts.size === 1 && only !== '' && [...counts.values()][0] === 1;
  const subject = summary ? `${headings[0]}: ${only}` : headings.join(', ');
  return {
    subject: `${SUBJECT_PREFIX}${cut(subject, MAX_SUBJECT_CHARS)}`,
    text: plainText(sections, place),
    html: markup(sections, place).markup,
  };
}

interface Content {
  readonly total: number;
  /** The time of the event. */
  readonly at: string;
  readonly lines: readonly Line[];
  /** Replaces the heading. */
  readonly note: string | undefined;
}

/** A message that is damaged loses its own lines only. */
function contentOf({ type, atMs, data }: NotificationMessage): Content {
  try {
    const { total, resources, message } = readData(data);
    const lines = resources.slice(0, MAX_LINES).map(lineOf);
    return {
      total,
      at: new Date(atMs).toISOString(),
      lines,
      note: type === 'test' ? message : undefined,
    };
  } catch {
    return { total: 0, at: 'at an unknown time', lines: [], note: 'A notification cannot be read' };
  }
}

function headingOf(type: string, count: number): string {
  if (!isNotificationEventType(type)) return type === 'test' ? 'Test message' : oneLine(type);
  const [one, many] = HEADINGS[type];
  return count === 1 ? one : `${count} ${many}`;
}

function lineOf(resource: MailResource): Line {
  const { kind, id, name = '', frontdoorId, target, reason, shares, expiresAt } = resource;
  const { network, browser, used, most } = resource;
  const details = [
    kind === 'share' ? target : undefined,
    reason,
    shares === undefined || shares === 0 ? undefined : `${shares} ${shares === 1 ? 'share' : 'shares'}`,
    expiresAt === undefined ? undefined : `expires ${expiresAt}`,
    network,
    browser,
    used === undefined || most === undefined ? undefined : `${used} of ${most}`,
  ];
  return {
    text: oneLine(name === '' ? id : name),
    detail: details
      .flatMap((each) => (each === undefined || each === null ? [] : [oneLine(each)]))
      .join('; '),
    path: pathOf(kind, id, frontdoorId ?? undefined),
  };
}

/** Its page in the console. */
function pathOf(kind: string, id: string, frontdoorId: string | undefined): string | undefined {
  const own = encodeURIComponent(id);
  if (kind === 'router') return `/mesh/routers/${own}`;
  if (kind === 'person') return `/settings/people/${own}`;
  if (frontdoorId === undefined) return undefined;
  const base = `/frontdoors/${encodeURIComponent(frontdoorId)}`;
  if (kind === 'share') return `${base}/shares/${own}`;
  if (kind === 'domain') return `${base}/shares/${own}/domains`;
  if (kind === 'agent') return `${base}/agents/${own}`;
  return kind === 'quota' ? `${base}/domains` : undefined;
}

function plainText(sections: readonly Section[], { consoleUrl, destination }: MailPlace): string {
  const parts = sections.map(({ heading, at, lines, left }) =>
    [
      `${heading} (${at})`,
      ...lines.map(({ text, detail, path }) => {
        const link = consoleUrl === undefined || path === undefined ? '' : `\n  ${consoleUrl}${path}`;
        return `- ${text}${detail === '' ? '' : `: ${detail}`}${link}`;
      }),
      ...(left > 0 && lines.length > 0 ? [`- and ${left} more`] : []),
    ].join('\n'),
  );
  return `${[...parts, footerOf(destination), ...(settingsUrl(consoleUrl, destination) ?? [])].join('\n\n')}\n`;
}

function markup(sections: readonly Section[], { consoleUrl, destination }: MailPlace): Html {
  const parts = sections.map(
    ({ heading, at, lines, left }) =>
      html`<h2 style="font-size:16px;margin:16px 0 4px">${heading}</h2>
        <p style="margin:0;color:#555">${at}</p>
        <ul>
          ${[
            ...lines.map(({ text, detail, path }) => {
              const named =
                consoleUrl === undefined || path === undefined
                  ? html`${text}`
                  : html`<a href="${consoleUrl + path}">${text}</a>`;
              return html`<li>${named}${detail === '' ? '' : `: ${detail}`}</li>`;
            }),
            ...(left > 0 && lines.length > 0 ? [html`<li>and ${left} more</li>`] : []),
          ]}
        </ul>`,
  );
  const links = (settingsUrl(consoleUrl, destination) ?? []).map((url) => html` <a href="${url}">${url}</a>`);
  return html`<!doctype html>
    <html lang="en">
      <body style="font-family:sans-serif">
        ${parts}
        <p style="color:#555">${footerOf(destination)}${links}</p>
      </body>
    </html>`;
}

function footerOf({ name }: MailPlace['destination']): string {
  return `You receive this mail because an administrator added your address to the notifications “${oneLine(name)}”.`;
}

function settingsUrl(
  consoleUrl: string | undefined,
  { id }: MailPlace['destination'],
): readonly string[] | undefined {
  return consoleUrl === undefined ? undefined : [`${consoleUrl}/settings/notifications/${id}`];
}

/** Without line breaks and other control characters, and without those that turn the direction of a text. */
function oneLine(text: string): string {
  return cut(text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').trim(), MAX_NAME_CHARS);
}

function cut(text: string, most: number): string {
  const characters = [...text];
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join('')}…`;
}
