/** The audit trail: changes with their authors and differences, filters, export and verification. */
import { Button, Group, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import type { AuditEventAnswer } from '#contract';
import { call } from '../../api/call.ts';
import { useAnswer } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { ChoiceFilter, Filters, TextFilter } from '../../parts/filters.tsx';
import { ListTable, PAGE_SIZE } from '../../parts/list-table.tsx';
import { PageTitle, Panel } from '../../parts/page-title.tsx';
import { Problem } from '../../parts/problem.tsx';
import { saveFile } from '../../parts/save-file.ts';
import { useSearchState, type SearchControl, type SearchState } from '../../parts/search-state.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { useFormat, useText } from '../../text/language.tsx';
import { ActorName } from './actor-name.tsx';
import { activityText } from './activity-text.ts';
import { nameIn } from './event-difference.ts';
import { EventDialog } from './event-dialog.tsx';

const EXPORT_PAGE_SIZE = 1_000;
const MAX_EXPORT_PAGES = 10;
const INSTALLATION = 'installation';

export function ActivityPage(): ReactNode {
  const [text, format] = [useText(activityText), useFormat()];
  const { isOperator } = useSession();
  const control = useSearchState();
  const [open, setOpen] = useState<AuditEventAnswer | undefined>();
  const { page, ...filters } = control.search;
  const list = useAnswer('listAuditEvents', { query: { ...filters, page: page ?? 0, size: PAGE_SIZE } });
  return (
    <>
      <PageTitle title={text.activity}>
        <Group gap="xs">
          {isOperator ? <Verify organizationId={control.textOf('organizationId')} /> : null}
          <Export filters={filters} />
        </Group>
      </PageTitle>
      <p>{text.intro}</p>
      <Panel>
        <Filters control={control}>
          <TextFilter control={control} name="text" label={text.text} />
          <ChoiceFilter
            control={control}
            name="result"
            label={text.result}
            choices={[
              { value: 'ok', label: text.ok },
              { value: 'refused', label: text.refused },
            ]}
          />
          <TimeFilter control={control} name="from" label={text.from} />
          <TimeFilter control={control} name="to" label={text.to} />
          {isOperator ? (
            <ChoiceFilter
              control={control}
              name="organizationId"
              label={text.chain}
              choices={[{ value: INSTALLATION, label: text.installationChain }]}
            />
          ) : null}
        </Filters>
        <AnswerView answer={list}>
          {({ body }) => (
            <ListTable
              label={text.activity}
              page={body}
              control={control}
              keyOf={({ id }) => id}
              columns={[
                { title: text.when, sort: 'at', cell: ({ at }) => <TimeAgo at={at} /> },
                { title: text.who, cell: ({ actor }) => <ActorName actor={actor} /> },
                {
                  title: text.what,
                  cell: (event) => (
                    <Button
                      variant="subtle"
                      size="compact-sm"
                      onClick={() => setOpen(event)}
                      aria-label={`${event.action}: ${text.details}`}
                    >
                      {event.action}
                    </Button>
                  ),
                },
                {
                  title: text.target,
                  cell: ({ target, before, after }) =>
                    target === null
                      ? ''
                      : (nameIn(after, before) ?? <span className="fd-mono">{target.id}</span>),
                },
                {
                  title: text.result,
                  cell: ({ result, reason, occurrences }) => (
                    <StateBadge tone={result === 'ok' ? 'good' : 'bad'}>
                      {result === 'ok' ? text.ok : (reason ?? text.refused)}
                      {occurrences > 1 ? ` (${text.times(occurrences, format.number(occurrences))})` : null}
                    </StateBadge>
                  ),
                },
                { title: text.address, cell: ({ address }) => <span className="fd-mono">{address}</span> },
              ]}
            />
          )}
        </AnswerView>
      </Panel>
      {open === undefined ? null : <EventDialog event={open} onClose={() => setOpen(undefined)} />}
    </>
  );
}

/** A time of this browser's zone, in the address as a timestamp. */
function TimeFilter(props: {
  readonly control: SearchControl;
  readonly name: 'from' | 'to';
  readonly label: string;
}): ReactNode {
  const { control, name, label } = props;
  const current = control.textOf(name);
  return (
    <TextInput
      type="datetime-local"
      label={label}
      value={current === '' ? '' : localTime(current)}
      onChange={({ currentTarget: { value } }) =>
        control.change(
          { [name]: value === '' ? undefined : new Date(value).toISOString() },
          { replace: true },
        )
      }
    />
  );
}

function localTime(timestamp: string): string {
  const at = new Date(timestamp);
  if (Number.isNaN(at.getTime())) return '';
  const shifted = new Date(at.getTime() - at.getTimezoneOffset() * 60_000);
  return shifted.toISOString().slice(0, 16);
}

function Verify({ organizationId }: { readonly organizationId: string }): ReactNode {
  const [text, format] = [useText(activityText), useFormat()];
  const { mutate, data, error, isPending } = useMutation({
    mutationFn: () => call('verifyAuditEvents', { query: { organizationId } }),
  });
  const result = data?.body;
  return (
    <>
      <span role="status">
        {result === undefined ? null : result.valid ? (
          <StateBadge tone="good">{text.valid(format.number(result.events))}</StateBadge>
        ) : (
          <StateBadge tone="bad">{text.invalid(String(result.firstInvalid))}</StateBadge>
        )}
      </span>
      {error === null ? null : <Problem error={error} />}
      <Button variant="default" loading={isPending} onClick={() => mutate()} title={text.verifying}>
        {text.verify}
      </Button>
    </>
  );
}

/** Lines of JSON, the newest event first. */
function Export({ filters }: { readonly filters: SearchState }): ReactNode {
  const text = useText(activityText);
  const { mutate, error, isPending } = useMutation({
    mutationFn: async () => {
      const lines: string[] = [];
      for (let page = 0; page < MAX_EXPORT_PAGES; page += 1) {
        const { body } = await call('listAuditEvents', {
          query: { ...filters, page, size: EXPORT_PAGE_SIZE },
        });
        lines.push(...body.content.map((event) => JSON.stringify(event)));
        if (body.content.length < EXPORT_PAGE_SIZE) break;
      }
      return new Blob([lines.map((line) => `${line}\n`).join('')], { type: 'application/x-ndjson' });
    },
    onSuccess: (file) => saveFile(file, 'frontdoor-audit-events.ndjson'),
  });
  return (
    <>
      {error === null ? null : <Problem error={error} />}
      <Button variant="default" loading={isPending} onClick={() => mutate()} title={text.exporting}>
        {text.export}
      </Button>
    </>
  );
}
