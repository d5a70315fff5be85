/** A share that an import makes, for files of all programs. A setting that Frontdoor would refuse becomes a remark. */
import { definedFields } from '#base';
import { schemaProblems, type ValuePath } from '#base/shapes';
import { isZoneName } from '#domain';
import {
  checkUpstream,
  reservedHeaderReason,
  upstreamChangeSchema,
  type HeaderRule,
  type ShareRouteSetting,
  type ShareUpstreamChange,
} from '#domain/upstream';
import type { SourceTable } from './source-table.ts';

export type HeaderDirection = 'requestHeaders' | 'responseHeaders';

/** Advice for what connected the agent of the other program with its server. */
export const NO_TOKEN =
  'An agent of Frontdoor has its own identity: enroll one (frontdoor agent start --help).';
/** Advice for a service whose certificate the other program did not verify. */
export const ANY_CERTIFICATE =
  'tlsInsecure accepts any certificate. tlsPin accepts one: frontdoor agent certificate HOST:PORT';

export interface DraftPolicy {
  emails: string[];
  ipAllow: string[];
  ipDeny: string[];
}

export class ImportedShare {
  readonly path: ValuePath;
  readonly source: SourceTable;
  /** It is made a share name, and unique, when it is written. */
  readonly name: string;
  readonly mode: 'public' | 'private';
  readonly target: string;
  readonly domains: string[] = [];
  readonly authProviders: string[] = [];
  readonly policy: DraftPolicy = { emails: [], ipAllow: [], ipDeny: [] };
  /** Users of HTTP Basic, whose passwords come from variables. */
  readonly users: string[] = [];
  /** Authorities (PEM) of the certificate that every client must present. */
  readonly clientAuthorities: string[] = [];
  /** Comments above the share. */
  readonly hints: string[] = [];
  #upstream: ShareUpstreamChange = {};

  constructor(source: SourceTable, share: Pick<ImportedShare, 'name' | 'mode' | 'target'>) {
    this.source = source;
    this.path = source.path;
    this.name = share.name;
    this.mode = share.mode;
    this.target = share.target;
  }

  get upstream(): ShareUpstreamChange {
    return this.#upstream;
  }

  /** Adds settings that `key` of `table` has, unless Frontdoor refuses them. */
  set(table: SourceTable, key: string, change: ShareUpstreamChange): void {
    const [schemaProblem] = schemaProblems(upstreamChangeSchema, change, 1);
    const [rule] = schemaProblem === undefined ? checkUpstream(change) : [];
    if (schemaProblem === undefined && rule === undefined)
      this.#upstream = Object.assign({}, this.#upstream, definedFields(change));
    else
      table.remark(
        key,
        rule === undefined
          ? 'Frontdoor does not accept this value: see the fields of "upstream" in the guide to the agent\'s file.'
          : `Left out, because the value must be ${rule.rule}.`,
      );
  }

  header(table: SourceTable, key: string, direction: HeaderDirection, rule: HeaderRule): void {
    const reason = reservedHeaderReason(rule.name);
    const before = this.#upstream[direction] ?? [];
    if (reason === undefined) this.set(table, key, { [direction]: [...before, rule] });
    else table.remark(key, `The header ${rule.name} is left out: ${reason}.`);
  }

  route(table: SourceTable, key: string, route: ShareRouteSetting): void {
    this.set(table, key, { routes: [...(this.#upstream.routes ?? []), route] });
  }

  /** A DNS name of the operator's. A wildcard is none of one share. */
  domain(table: SourceTable, key: string, host: string): void {
    if (host.startsWith('*'))
      table.remark(
        key,
        'A share has no wildcard name: make a custom frontend for the domain (docs/guide/custom-frontends.md).',
      );
    else if (isZoneName(host.toLowerCase())) {
      if (!this.domains.includes(host.toLowerCase())) this.domains.push(host.toLowerCase());
    } else
      table.remark(
        key,
        'Left out, because it is no DNS name of two labels or more: the share has an address of the gateway.',
      );
  }

  /** Guards the share with an auth provider that does not exist yet: until someone creates it, the share is not made. */
  guardByHand(table: SourceTable, key: string, provider: string, what: string): void {
    if (this.#isLeftOut(table, key)) return;
    if (!this.authProviders.includes(provider)) this.authProviders.push(provider);
    this.hint(`The share is not made until an auth provider named ${provider} exists (${what}).`);
    table.remark(
      key,
      `Not carried over: create an auth provider named ${provider}, or change authProviders; until then the share is not made.`,
    );
  }

  user(table: SourceTable, key: string, name: string): void {
    if (this.#isLeftOut(table, key)) return;
    if (!this.users.includes(name)) this.users.push(name);
    table.remark(
      key,
      'The password is not carried over: set the variable of fromEnv for the agent, with at least 8 characters.',
    );
  }

  /** Users of HTTP Basic from entries of the form `NAME:PASSWORD`. */
  credentials(table: SourceTable, key: string): void {
    for (const entry of table.texts(key)) {
      const colon = entry.indexOf(':');
      if (colon < 1) table.notes.problem(table.at(key), 'must have entries of the form NAME:PASSWORD');
      else this.user(table, key, entry.slice(0, colon));
    }
  }

  network(table: SourceTable, key: string, field: 'ipAllow' | 'ipDeny', network: string): void {
    if (!this.#isLeftOut(table, key)) this.policy[field].push(network);
  }

  email(table: SourceTable, key: string, pattern: string): void {
    if (!this.#isLeftOut(table, key)) this.policy.emails.push(pattern);
  }

  /** A private share has no guards but its grants. */
  #isLeftOut(table: SourceTable, key: string): boolean {
    if (this.mode === 'private')
      table.remark(key, 'Left out, because only the environments of its grants can dial a private share.');
    return this.mode === 'private';
  }

  hint(text: string): void {
    if (!this.hints.includes(text)) this.hints.push(text);
  }
}

export interface DraftAccess {
  readonly share: string;
  readonly listen: string;
  readonly protocol: 'tcp' | 'udp';
}

/** What all importers return. */
export interface ImportDraft {
  readonly shares: readonly ImportedShare[];
  readonly accesses: readonly DraftAccess[];
  /** Comments at the head of the file. */
  readonly intro: readonly string[];
}
