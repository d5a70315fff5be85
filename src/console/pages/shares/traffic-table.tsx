/** The facts of the charts of traffic, as a table: the latest step first. */
import { Table } from '@mantine/core';
import type { ReactNode } from 'react';
import { Panel } from '../../parts/page-title.tsx';
import { useFormat, useText } from '../../text/language.tsx';
import { shareTrafficText } from './share-traffic-text.ts';
import { CLASSES, countOf, type ShareSample } from './traffic-series.ts';

const MAX_ROWS = 100;
const LATENCIES = ['p50', 'p95', 'p99'] as const;

export function TrafficTable({ samples }: { readonly samples: readonly ShareSample[] }): ReactNode {
  const [text, format] = [useText(shareTrafficText), useFormat()];
  const heads = [
    text.requests,
    ...CLASSES.map((name) => text.classes(name)),
    text.errors,
    ...LATENCIES.map((name) => `${text.latency}, ${text.latencies(name)}`),
    text.received,
    text.sent,
  ];
  const cellsOf = (sample: ShareSample): readonly string[] => [
    format.number(sample.requests),
    ...CLASSES.map((name) => format.number(countOf(sample, name))),
    format.number(sample.errors),
    ...LATENCIES.map((name) => (sample.requests === 0 ? '' : format.duration(sample.latencyMs[name]))),
    format.bytes(sample.bytesIn),
    format.bytes(sample.bytesOut),
  ];
  return (
    <Panel title={text.tableOf}>
      <div className="fd-scroll" tabIndex={0} role="region" aria-label={text.tableOf}>
        <Table verticalSpacing="xs">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{text.time}</Table.Th>
              {heads.map((head) => (
                <Table.Th key={head} ta="right">
                  {head}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {samples
              .slice(-MAX_ROWS)
              .toReversed()
              .map((sample) => (
                <Table.Tr key={sample.timestamp}>
                  <Table.Th scope="row" fw={400} style={{ whiteSpace: 'nowrap' }}>
                    {format.dateTime(Date.parse(sample.timestamp))}
                  </Table.Th>
                  {cellsOf(sample).map((cell, at) => (
                    <Table.Td key={heads[at]} ta="right">
                      {cell}
                    </Table.Td>
                  ))}
                </Table.Tr>
              ))}
          </Table.Tbody>
        </Table>
      </div>
    </Panel>
  );
}
