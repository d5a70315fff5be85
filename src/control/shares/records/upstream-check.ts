/** Checks upstream settings before they are stored, certificates included. */
import { checkUpstream, TLS_CA_RULE, type ShareUpstreamChange, type UpstreamProblem } from '#domain/upstream';
import { isCertificateList } from '#net';

/** The first field that is not valid. */
export function upstreamProblem(change: ShareUpstreamChange): UpstreamProblem | undefined {
  const [problem] = checkUpstream(change);
  const { tlsCa = null } = change;
  if (problem !== undefined || tlsCa === null || isCertificateList(tlsCa)) return problem;
  return { field: 'tlsCa', rule: TLS_CA_RULE };
}
