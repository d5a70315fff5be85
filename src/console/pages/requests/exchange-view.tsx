/** One recorded exchange: facts, headers and bodies of both directions. Bodies are text or images, never a page. */
import { Table } from '@mantine/core';
import { useEffect, useMemo, useState, type ReactNode } from 'react';
import type { InspectedRequestAnswer } from '#contract/schemas';
import { ApiText } from '../../parts/api-text.tsx';
import { Facts, Panel } from '../../parts/page-title.tsx';
import { ExactTime } from '../../parts/time-ago.tsx';
import { useFormat, useText } from '../../text/language.tsx';
import { bodyView, bytesOfBase64, type BodyView } from './body-view.ts';
import { bodyGap, LEFT_OUT } from './left-out.ts';
import { requestsText } from './requests-text.ts';

type Message = InspectedRequestAnswer['request'];

export function ExchangeView({ exchange }: { readonly exchange: InspectedRequestAnswer }): ReactNode {
  const [text, format] = [useText(requestsText), useFormat()];
  const { method, host, target, status, at, client, identity, decision, timingsMs, failure } = exchange;
  return (
    <>
      <Panel>
        <Facts
          facts={[
            [text.request, <span key="request" className="fd-mono">{`${method} ${host}${target}`}</span>],
            [text.status, status === 0 ? text.noStatus : String(status)],
            [text.when, <ExactTime key="at" at={at} />],
            ...(timingsMs.done === null ? [] : [[text.took, format.duration(timingsMs.done)] as const]),
            [
              text.client,
              <span key="client" className="fd-mono">
                {client}
              </span>,
            ],
            [text.identity, identity ?? text.nobody],
            [text.decision, decision],
            ...(failure === null
              ? []
              : [
                  [
                    text.failure,
                    <ApiText key="cause" code={failure.code} keepsOriginal>
                      {failure.cause}
                    </ApiText>,
                  ] as const,
                ]),
          ]}
        />
        {target.includes(LEFT_OUT) ? <p className="fd-soft fd-small">{text.leftOutMark(LEFT_OUT)}</p> : null}
      </Panel>
      <MessageView title={text.request} message={exchange.request} />
      <MessageView title={text.answer} message={exchange.answer} />
    </>
  );
}

function headerOf({ headers }: Message, wanted: string): string {
  return headers.find(({ name }) => name.toLowerCase() === wanted)?.value ?? '';
}

function MessageView({ title, message }: { readonly title: string; readonly message: Message }): ReactNode {
  const [text, format] = [useText(requestsText), useFormat()];
  const { headers, body, bodyBytes } = message;
  const gap = bodyGap(message);
  return (
    <Panel title={title}>
      <div className="fd-scroll" tabIndex={0} role="region" aria-label={`${title}: ${text.headers}`}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{text.headerName}</Table.Th>
              <Table.Th>{text.headerValue}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {headers.map(({ name, value }, at) => (
              // A header may be there twice.
              <Table.Tr key={at}>
                <Table.Td className="fd-mono">{name}</Table.Td>
                <Table.Td className="fd-mono">
                  {value === LEFT_OUT ? (
                    <em>{text.leftOut}</em>
                  ) : value === '' ? (
                    <em>{text.emptyValue}</em>
                  ) : (
                    value
                  )}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </div>
      <h3>{text.body}</h3>
      {bodyBytes === 0 ? null : <p className="fd-soft fd-small">{text.bodyBytes(format.bytes(bodyBytes))}</p>}
      {gap === undefined ? null : <p className="fd-warn">{text.bodyGap(gap)}</p>}
      {body === null ? (
        gap === undefined ? (
          <p className="fd-soft">{text.noBody}</p>
        ) : null
      ) : (
        <Body message={message} body={body} title={title} />
      )}
    </Panel>
  );
}

function Body(props: {
  readonly message: Message;
  readonly body: string;
  readonly title: string;
}): ReactNode {
  const text = useText(requestsText);
  const { message, body, title } = props;
  const [bytes, view] = useMemo(() => {
    const kept = bytesOfBase64(body);
    const encoding = headerOf(message, 'content-encoding');
    return [
      kept,
      bodyView(kept, headerOf(message, 'content-type'), encoding !== '' && encoding !== 'identity'),
    ] as const;
  }, [body, message]);
  if (view.kind === 'image') return <Picture bytes={bytes} type={view.type} label={text.image} />;
  const isForm = view.kind === 'form';
  return (
    <>
      {isForm ? (
        <Facts facts={view.fields} />
      ) : (
        <pre className="fd-code" tabIndex={0} role="region" aria-label={`${title}: ${text.body}`}>
          {(view satisfies BodyView).text}
        </pre>
      )}
      {(isForm ? view.fields.flat() : [view.text]).some((each) => each.includes(LEFT_OUT)) ? (
        <p className="fd-soft fd-small">{text.leftOutMark(LEFT_OUT)}</p>
      ) : null}
    </>
  );
}

function Picture(props: {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly type: string;
  readonly label: string;
}): ReactNode {
  const { bytes, type, label } = props;
  const [address, setAddress] = useState<string | undefined>();
  useEffect(() => {
    const made = URL.createObjectURL(new Blob([bytes], { type }));
    setAddress(made);
    return () => URL.revokeObjectURL(made);
  }, [bytes, type]);
  return address === undefined ? null : <img src={address} alt={label} className="fd-picture" />;
}
