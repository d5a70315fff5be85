/**
 * Takes over the authorities that the control plane trusts (ADR 0062): adds them to the file of `identity.ca`, and removes
 * those that ended. Certificates that the operator added to that file stay.
 */
import { X509Certificate } from 'node:crypto';
import { FrontdoorError, messageOf, textOf, type Log } from '#base';
import { certificatesOfPem } from '#net';
import { writeFileDurably } from '#net/files';
import { decodeTrustBundle, makeResult, type Frame } from '#wire';
import type { RouterConfig } from '../config/router-config.ts';
import { isInlinePem } from '../config/text-kinds.ts';
import type { CtrlHandler } from '../ctrl/controllers.ts';
import { loadRouterIdentity, type RouterIdentity } from '../identity/router-identity.ts';

export interface TrustedAuthoritiesOptions {
  readonly config: RouterConfig;
  readonly identity: () => RouterIdentity;
  readonly use: (identity: RouterIdentity) => void;
  /** Called when the authority that issues now is known. */
  readonly onIssuer: () => void;
  readonly log: Log;
}

const MAX_BODY_BYTES = 262_144;

export class TrustedAuthorities {
  readonly #options: TrustedAuthoritiesOptions;
  #issuer: X509Certificate | undefined;
  #work: Promise<void> = Promise.resolve();

  constructor(options: TrustedAuthoritiesOptions) {
    this.#options = options;
  }

  /** Whether another authority issues now than the one of the router's certificate. */
  get isReplaced(): boolean {
    if (this.#issuer === undefined) return false;
    return !new X509Certificate(this.#options.identity().client.cert).checkIssued(this.#issuer);
  }

  readonly onBundle: CtrlHandler = (frame, { channel }) => {
    // One after the other, because each reads and writes the file.
    this.#work = this.#work
      .then(() => this.#takeOver(frame))
      .then(
        () => void channel.reply(frame, makeResult(frame, true)),
        (error: unknown) => {
          this.#options.log.warn({ err: messageOf(error) }, 'the trusted authorities could not be saved');
          channel.reply(frame, makeResult(frame, false, messageOf(error)));
        },
      );
  };

  async #takeOver(frame: Frame): Promise<void> {
    const { config, identity, use, onIssuer, log } = this.#options;
    if (frame.body.length > MAX_BODY_BYTES)
      throw new FrontdoorError('badGateway', 'renewal-invalid', 'the controller sent too many authorities');
    const { trustedPem, endedPem } = decodeTrustBundle(textOf(frame.body));
    const trusted = certificatesOfPem(trustedPem);
    const ended = endedPem === '' ? [] : certificatesOfPem(endedPem);
    const present = certificatesOfPem(identity().client.ca);
    const isIn = (list: readonly X509Certificate[], one: X509Certificate): boolean =>
      list.some(({ raw }) => raw.equals(one.raw));
    const missing = trusted.filter((one) => !isIn(present, one));
    const kept = present.filter((one) => !isIn(ended, one));
    if (missing.length > 0 || kept.length < present.length) {
      const { ca } = config.identity;
      if (isInlinePem(ca)) {
        const message = `identity.ca stands as PEM in ${config.file}: changed authorities need a file to go to`;
        throw new FrontdoorError('invalid', 'identity-inline', message);
      }
      const pem = [...kept, ...missing].map((one) => one.toString()).join('');
      await writeFileDurably(ca, pem, 0o644);
      use(loadRouterIdentity(config.identity));
      const names = (list: readonly X509Certificate[]): string[] => list.map(({ subject }) => subject);
      log.info({ file: ca, added: names(missing), removed: names(ended) }, 'the trusted authorities changed');
    }
    [this.#issuer] = trusted;
    onIssuer();
  }
}
