/** Routers and gateways that an installation makes by itself, each with its enrollment token. */
import { createFabricEnrollment } from '../shares/operations/mod.ts';
import { mintJti } from '../overlay/enrollments/mod.ts';

type NodeParts = Omit<Parameters<typeof createFabricEnrollment>[0], 'fabricEnrollmentTtlMs'>;

interface NodeClaims {
  readonly subject: string;
  readonly jti: string;
  readonly method: 'erott' | 'ott';
  readonly expiresAtMs: number;
}

const ENROLLMENT_TTL_MS = 3_600_000;

export async function createFabricNode(
  parts: NodeParts,
  mint: (claims: NodeClaims) => Promise<string>,
  kind: 'router' | 'gateway',
  name: string,
): Promise<{ readonly id: string; readonly token: string }> {
  const wanted = { ...parts, fabricEnrollmentTtlMs: ENROLLMENT_TTL_MS };
  const { node, enrollment } = await createFabricEnrollment(wanted, kind, name);
  const token = await mint({
    subject: node.id,
    jti: mintJti(parts.secrets, enrollment.id),
    method: kind === 'router' ? 'erott' : 'ott',
    expiresAtMs: enrollment.expiresAtMs,
  });
  return { id: node.id, token };
}
