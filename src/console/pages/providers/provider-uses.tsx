/** The uses of an auth provider: shares, domains, and the log-in at the console. */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useAnswer } from '../../api/queries.ts';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { Facts, Panel } from '../../parts/page-title.tsx';
import { useFormat, useText } from '../../text/language.tsx';
import { providersText } from './providers-text.ts';

const SHOWN = 20;

/** Undefined while it is not known. */
export function useProviderUses(id: string) {
  const answer = useAnswer('getAuthProviderUses', { parameters: { frontdoorId: useFrontdoorId(), id } });
  const uses = answer.data?.body;
  const count =
    uses === undefined
      ? undefined
      : uses.shareCount + uses.customFrontends.length + (uses.consoleLogInId === null ? 0 : 1);
  return { answer, count };
}

export function ProviderUses({ id }: { readonly id: string }): ReactNode {
  const [text, format] = [useText(providersText), useFormat()];
  const frontdoorId = useFrontdoorId();
  const { answer, count } = useProviderUses(id);
  return (
    <Panel title={text.uses}>
      <AnswerView answer={answer}>
        {({ body: { shares, shareCount, customFrontends, consoleLogInId } }) => (
          <>
            {count === 0 ? <p className="fd-soft">{text.usesNothing}</p> : null}
            <Facts
              facts={[
                ...(shareCount === 0
                  ? []
                  : [
                      [
                        text.usesShares,
                        <ul key="shares" className="fd-plain">
                          {shares.slice(0, SHOWN).map(({ token }) => (
                            <li key={token}>
                              <Link
                                to="/frontdoors/$frontdoorId/shares/$token/access"
                                params={{ frontdoorId, token }}
                              >
                                {token}
                              </Link>
                            </li>
                          ))}
                          {shareCount <= SHOWN ? null : (
                            <li>
                              <Link
                                to="/frontdoors/$frontdoorId/shares"
                                params={{ frontdoorId }}
                                search={{ providerId: id }}
                              >
                                {text.usesMore(format.number(shareCount - SHOWN))}
                              </Link>
                            </li>
                          )}
                        </ul>,
                      ] as const,
                    ]),
                ...(customFrontends.length === 0
                  ? []
                  : [
                      [
                        text.usesDomains,
                        <ul key="domains" className="fd-plain">
                          {customFrontends.map(({ id: domainId, hostname }) => (
                            <li key={domainId}>
                              <Link
                                to="/frontdoors/$frontdoorId/domains/$domainId"
                                params={{ frontdoorId, domainId }}
                              >
                                {hostname}
                              </Link>
                            </li>
                          ))}
                        </ul>,
                      ] as const,
                    ]),
              ]}
            />
            {consoleLogInId === null ? null : (
              <p>
                <Link to="/settings/log-ins">{text.usesConsole}</Link>
              </p>
            )}
          </>
        )}
      </AnswerView>
    </Panel>
  );
}
