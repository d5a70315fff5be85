/**
 * The posture that the device of one API session has reported. Each report replaces what it names; processes are kept by
 * path. All of it has at most 64 KiB: a report beyond that, or with more processes, is refused and changes nothing.
 */
import { jsonReader, Part, Type } from '#base/shapes';
import type { Posture, ReportedProcess } from './posture-policy.ts';

/** One statement of a device about itself, in the form of the message to routers. */
export interface PostureReport {
  readonly type:
    | { readonly case: 'os'; readonly value: { readonly type: string; readonly version: string } }
    | { readonly case: 'domain'; readonly value: { readonly name: string } }
    | { readonly case: 'macs'; readonly value: { readonly addresses: readonly string[] } }
    | { readonly case: 'processList'; readonly value: { readonly processes: readonly ReportedProcess[] } }
    | { readonly case: 'woken' | 'unlocked'; readonly value: { readonly time?: ReportedTime | undefined } }
    | { readonly case: 'totpToken' | undefined; readonly value?: unknown };
}

interface ReportedTime {
  /** Unix time. */
  readonly seconds: bigint;
}

/** Maximum length of a report, and of all that is kept. */
export const MAX_POSTURE_BYTES = 64 * 1024;
const MAX_PROCESSES = 256;
const MAX_MAC_ADDRESSES = 256;

interface Kept {
  os: Posture['os'];
  domain: string | undefined;
  macAddresses: readonly string[] | undefined;
  processes: Map<string, ReportedProcess>;
  wokenMs: number | undefined;
  unlockedMs: number | undefined;
}

/** As the store has it. JSON leaves out what is undefined. */
const storedSchema = Type.Object({
  os: Type.Optional(Type.Object({ type: Part.text(), version: Part.text() })),
  domain: Type.Optional(Part.text()),
  macAddresses: Type.Optional(Part.texts()),
  processes: Type.Array(
    Type.Object({
      path: Part.text(),
      isRunning: Part.flag(),
      hash: Part.text(),
      signerFingerprints: Part.texts(),
    }),
  ),
  wokenMs: Type.Optional(Type.Number()),
  unlockedMs: Type.Optional(Type.Number()),
  passedMfaMs: Type.Optional(Type.Number()),
});
const readStored = jsonReader(storedSchema);

export class SessionPosture implements Posture {
  /** Increases with each report. */
  version = 0;
  #kept: Kept = {
    os: undefined,
    domain: undefined,
    macAddresses: undefined,
    processes: new Map(),
    wokenMs: undefined,
    unlockedMs: undefined,
  };
  #passedMfaMs: number | undefined;
  readonly isOsOptional: boolean;

  /** For what `isOsOptional` means, see `Posture`. */
  constructor(isOsOptional = false) {
    this.isOsOptional = isOsOptional;
  }

  /** Reads what `text` returned. Throws if it is damaged. */
  static parse(text: string, isOsOptional = false): SessionPosture {
    const posture = new SessionPosture(isOsOptional);
    const { processes, passedMfaMs, ...kept } = readStored(text);
    const byPath = new Map(processes.map((process) => [process.path, process]));
    posture.#kept = { ...posture.#kept, ...kept, processes: byPath };
    posture.#passedMfaMs = passedMfaMs;
    return posture;
  }

  /** Returns all that is kept, for the store. */
  text(): string {
    const processes = [...this.#kept.processes.values()];
    return JSON.stringify({ ...this.#kept, processes, passedMfaMs: this.#passedMfaMs });
  }

  get os(): Posture['os'] {
    return this.#kept.os;
  }

  get domain(): string | undefined {
    return this.#kept.domain;
  }

  get macAddresses(): readonly string[] | undefined {
    return this.#kept.macAddresses;
  }

  get processes(): ReadonlyMap<string, ReportedProcess> {
    return this.#kept.processes;
  }

  get wokenMs(): number | undefined {
    return this.#kept.wokenMs;
  }

  get unlockedMs(): number | undefined {
    return this.#kept.unlockedMs;
  }

  get passedMfaMs(): number | undefined {
    return this.#passedMfaMs;
  }

  /** Returns the reason of a refusal, or undefined. */
  report({ responses }: { readonly responses: readonly PostureReport[] }, nowMs: number): string | undefined {
    const next = { ...this.#kept, processes: new Map(this.#kept.processes) };
    for (const response of responses) applyResponse(next, response, nowMs);
    if (next.processes.size > MAX_PROCESSES) return 'too many processes';
    if ((next.macAddresses?.length ?? 0) > MAX_MAC_ADDRESSES) return 'too many MAC addresses';
    if (sizeOf(next) > MAX_POSTURE_BYTES) return 'the posture is too long';
    this.#kept = next;
    this.version += 1;
    return undefined;
  }

  /** A controller accepted a one-time password of the session at this time. */
  onMfaPassed(atMs: number): void {
    if (this.#passedMfaMs !== undefined && this.#passedMfaMs >= atMs) return;
    this.#passedMfaMs = atMs;
    this.version += 1;
  }

  /** The identity no longer has one-time passwords. */
  onMfaRemoved(): void {
    this.#passedMfaMs = undefined;
    this.version += 1;
  }
}

function applyResponse(kept: Kept, { type }: PostureReport, nowMs: number): void {
  switch (type.case) {
    case 'os':
      kept.os = { type: type.value.type, version: type.value.version };
      return;
    case 'domain':
      kept.domain = type.value.name;
      return;
    case 'macs':
      kept.macAddresses = type.value.addresses;
      return;
    case 'processList':
      for (const { path, isRunning, hash, signerFingerprints } of type.value.processes)
        kept.processes.set(path, { path, isRunning, hash, signerFingerprints });
      return;
    case 'woken':
      kept.wokenMs = later(kept.wokenMs, type.value.time?.seconds, nowMs);
      return;
    case 'unlocked':
      kept.unlockedMs = later(kept.unlockedMs, type.value.time?.seconds, nowMs);
      return;
    default:
  }
}

/** A device cannot report an earlier time than before, nor one that is still to come. */
function later(formerMs: number | undefined, seconds: bigint | undefined, nowMs: number): number | undefined {
  if (seconds === undefined) return formerMs;
  return Math.max(formerMs ?? 0, Math.min(Number(seconds) * 1_000, nowMs));
}

function sizeOf({ os, domain, macAddresses, processes }: Kept): number {
  let characters = (os?.type.length ?? 0) + (os?.version.length ?? 0) + (domain?.length ?? 0);
  for (const address of macAddresses ?? []) characters += address.length;
  for (const { path, hash, signerFingerprints } of processes.values()) {
    characters += path.length + hash.length;
    for (const fingerprint of signerFingerprints) characters += fingerprint.length + FINGERPRINT_COST;
  }
  return characters;
}

/** The cost of an entry of a list beside its text. */
const FINGERPRINT_COST = 16;
