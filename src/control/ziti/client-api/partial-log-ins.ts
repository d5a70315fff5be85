/**
 * Log-ins that wait for their second factor. Nothing about them is kept: the client carries a sealed text as its token,
 * which opens nothing else, until the code makes it the token of a session.
 */
import type { Clock } from '#base';
import { jsonReader, Part, Type, type ShapeOf } from '#base/shapes';
import type { Secrets } from '../../secrets/mod.ts';
import { LOG_IN_METHODS } from '../../overlay/clients/mod.ts';

const LIFETIME_MS = 10 * 60_000;
const OPENER = 'edge API: log-in without its second factor';
const MAX_TOKEN_CHARS = 16_384;

const partialLogInSchema = Type.Object({
  /** Id of the session that begins with the code. */
  sessionId: Part.text(),
  identityId: Part.text(),
  startedAtMs: Type.Number(),
  method: Part.oneOf(...LOG_IN_METHODS),
  signerId: Type.Optional(Part.text()),
  configTypes: Part.texts(),
  client: Type.Object({ envInfo: Part.mapOf(Part.text()), sdkInfo: Part.mapOf(Part.text()) }),
});
export type PartialLogIn = ShapeOf<typeof partialLogInSchema>;
const readPartialLogIn = jsonReader(partialLogInSchema);

export class PartialLogIns {
  readonly #secrets: Pick<Secrets, 'seal' | 'unseal'>;
  readonly #clock: Clock;

  constructor(secrets: Pick<Secrets, 'seal' | 'unseal'>, clock: Clock) {
    this.#secrets = secrets;
    this.#clock = clock;
  }

  tokenOf(login: PartialLogIn): string {
    return this.#secrets.seal(JSON.stringify(login), OPENER);
  }

  /** Returns undefined for other tokens, and after ten minutes. */
  of(token: string): PartialLogIn | undefined {
    if (token === '' || token.length > MAX_TOKEN_CHARS) return undefined;
    try {
      const login = readPartialLogIn(this.#secrets.unseal(token, OPENER));
      return login.startedAtMs + LIFETIME_MS > this.#clock.nowMs() ? login : undefined;
    } catch {
      return undefined;
    }
  }

  endsAtMs({ startedAtMs }: PartialLogIn): number {
    return startedAtMs + LIFETIME_MS;
  }
}
