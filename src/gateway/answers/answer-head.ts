/** Reads the heads of a service's responses, strictly, or with the obsolete forms that the owner of its share accepts. */
import type { HeadBuffer } from '../http/head-buffer.ts';
import { normalisedHead } from '../http/lenient-head.ts';
import { readResponseHead, type ResponseHead } from '../http/response-head-policy.ts';
import { failureOfAnswer, obsoleteAnswer, type Failure } from './failure-table.ts';

const HEAD_END = '\r\n\r\n';

/**
 * Reads a complete head. A circuit that carried an obsolete form is not used again, because reader and writer may
 * disagree about where its next response begins.
 */
export function readAnswerHead(
  heads: HeadBuffer,
  maxFields: number,
  head: ResponseHead,
): Failure | undefined {
  const { refusal, text, isLenient } = heads;
  if (refusal !== undefined)
    return refusal === 'bare-line-feed' ? obsoleteAnswer(refusal) : failureOfAnswer(refusal);
  // The strict reader relies on the end of the head.
  const isWhole = text.endsWith(HEAD_END);
  const problem = isWhole ? readResponseHead(text, maxFields, head) : 'bare-line-feed';
  if (problem !== undefined) {
    const isObsolete = readResponseHead(normalisedHead(text), maxFields, head) === undefined;
    if (!isObsolete) return failureOfAnswer(problem);
    if (!isLenient) return obsoleteAnswer(problem);
    heads.hadObsolete = true;
  }
  if (heads.hadObsolete) head.keepAlive = false;
  return undefined;
}
