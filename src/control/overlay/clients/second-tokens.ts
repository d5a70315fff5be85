/**
 * Tokens of another party as second factor: the authentication policy of an identity names the signer. As at OpenZiti, each
 * call with the session's own token then needs a token of the signer besides; a session of signed tokens needs it when it is
 * opened.
 */
import { textsOf } from '#base';
import type { FastifyRequest } from 'fastify';
import { authPolicyOf, requiredSignerOf } from '../model/auth-policy.ts';
import type { OverlayModel } from '../model/overlay-model.ts';
import type { ExternalSigners } from './external-signers.ts';
import { bearerTokensOf } from './bearer-tokens.ts';

/** `signerId` is the signer that the policy names; undefined for none. */
export interface SecondToken {
  readonly signerId: string | undefined;
  readonly isProven: boolean;
}

export class SecondTokens {
  readonly #model: OverlayModel;
  readonly #signers: Pick<ExternalSigners, 'proveBy'>;
  /** What `check` found for a request. */
  readonly #found = new WeakMap<FastifyRequest, { readonly identityId: string; readonly signerId: string }>();

  constructor(model: OverlayModel, signers: Pick<ExternalSigners, 'proveBy'>) {
    this.#model = model;
    this.#signers = signers;
  }

  /** Returns the signer that the policy of the identity names. */
  requiredOf(identityId: string): string | undefined {
    return requiredSignerOf(authPolicyOf(this.#model.edge, identityId));
  }

  /** Looks for a token of the required signer in the request, which names the identity. */
  async check(request: FastifyRequest, identityId: string): Promise<SecondToken> {
    const signerId = this.requiredOf(identityId);
    if (signerId === undefined) return { signerId, isProven: true };
    for (const token of bearerTokensOf(request)) {
      const proof = await this.#signers.proveBy(signerId, token);
      if (!('identity' in proof) || proof.identity.id !== identityId) continue;
      this.#found.set(request, { identityId, signerId });
      return { signerId, isProven: true };
    }
    return { signerId, isProven: false };
  }

  /** Whether `check` found the token that is required now, or none is. */
  isProven(request: FastifyRequest, identityId: string): boolean {
    const required = this.requiredOf(identityId);
    const found = this.#found.get(request);
    return required === undefined || (found?.identityId === identityId && found.signerId === required);
  }

  /** How SDKs ask for the token. */
  query(signerId: string): Readonly<Record<string, unknown>> {
    const { clientId, externalAuthUrl, scopes } =
      this.#model.edge.get('external-jwt-signer', signerId)?.data ?? {};
    return {
      typeId: 'EXT-JWT',
      provider: 'url',
      id: signerId,
      clientId: clientId ?? '',
      httpUrl: externalAuthUrl ?? '',
      scopes: textsOf(scopes),
    };
  }
}
