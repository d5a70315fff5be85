/** The shares that use a shared policy. */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useAnswer } from '../../api/queries.ts';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { Panel } from '../../parts/page-title.tsx';
import { useFormat, useText } from '../../text/language.tsx';
import { policiesText } from './policies-text.ts';

const SHOWN = 20;

export function usePolicyUses(policyId: string) {
  return useAnswer('getPolicyUses', { parameters: { frontdoorId: useFrontdoorId(), policyId } });
}

export function PolicyUses({
  id,
  shareCount,
}: {
  readonly id: string;
  readonly shareCount: number;
}): ReactNode {
  const [text, format] = [useText(policiesText), useFormat()];
  const frontdoorId = useFrontdoorId();
  const answer = usePolicyUses(id);
  return (
    <Panel title={text.usedBy(shareCount, format.number(shareCount))}>
      <AnswerView answer={answer}>
        {({ body: { shares, shareCount: all } }) =>
          all === 0 ? (
            <p className="fd-soft">{text.unused}</p>
          ) : (
            <ul className="fd-inline">
              {shares.slice(0, SHOWN).map(({ token }) => (
                <li key={token}>
                  <Link to="/frontdoors/$frontdoorId/shares/$token/access" params={{ frontdoorId, token }}>
                    {token}
                  </Link>
                </li>
              ))}
              {all <= SHOWN ? null : (
                <li>
                  <Link
                    to="/frontdoors/$frontdoorId/shares"
                    params={{ frontdoorId }}
                    search={{ policyId: id }}
                  >
                    {text.more(format.number(all - SHOWN))}
                  </Link>
                </li>
              )}
            </ul>
          )
        }
      </AnswerView>
    </Panel>
  );
}
