/** One terminator. Those of shares are made by agents, and change with them. */
import { Link, useNavigate } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import type { FabricTerminatorAnswer } from '#contract';
import { useAnswer, useChange } from '../../api/queries.ts';
import { useParam } from '../../frame/frontdoor.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { DeleteButton } from '../../parts/delete-button.tsx';
import { Form } from '../../parts/form.tsx';
import { Facts, PageTitle, Panel } from '../../parts/page-title.tsx';
import { useFormat, useText } from '../../text/language.tsx';
import { meshText } from './mesh-text.ts';
import { TerminatorFields, terminatorBody, type TypedTerminator } from './terminator-fields.tsx';

export function TerminatorPage(): ReactNode {
  const [text, format] = [useText(meshText), useFormat()];
  const navigate = useNavigate();
  const id = useParam('terminatorId');
  const answer = useAnswer('getTerminator', { parameters: { id } });
  return (
    <AnswerView answer={answer}>
      {({ body, etag }) => (
        <>
          <PageTitle title={body.id} above={<Link to="/mesh/terminators">{text.terminators}</Link>}>
            <DeleteButton
              operation="deleteTerminator"
              kind="terminator"
              input={{ parameters: { id }, ifMatch: etag }}
              label={text.delete}
              title={text.deleteTerminator}
              onDeleted={() => void navigate({ to: '/mesh/terminators' })}
            >
              <p>{text.deleteTerminatorText}</p>
            </DeleteButton>
          </PageTitle>
          <Panel>
            <Facts
              facts={[
                [text.service, `${body.serviceName} (${text.kind(body.kind)})`],
                [text.router, body.routerName],
                [text.dynamicCost, format.number(body.dynamicCost)],
                [text.health, body.healthy ? text.healthy : text.unhealthy],
              ]}
            />
          </Panel>
          <Panel title={text.change}>
            <ChangeTerminator
              key={etag}
              terminator={body}
              etag={etag}
              onStale={() => void answer.refetch()}
            />
          </Panel>
        </>
      )}
    </AnswerView>
  );
}

function ChangeTerminator(props: {
  readonly terminator: FabricTerminatorAnswer;
  readonly etag: string | undefined;
  readonly onStale: () => void;
}): ReactNode {
  const text = useText(meshText);
  const { terminator, etag, onStale } = props;
  const { address, instanceId, cost, precedence } = terminator;
  const [fields, setFields] = useState<TypedTerminator>({
    address,
    instanceId,
    cost: String(cost),
    precedence,
  });
  const { mutate, error, isPending, reset } = useChange('changeTerminator', { refreshes: ['terminator'] });
  return (
    <Form
      fields={['address', 'cost', 'instanceId']}
      error={error}
      isPending={isPending}
      submit={text.save}
      onStale={() => {
        onStale();
        reset();
      }}
      onSubmit={() =>
        mutate({ parameters: { id: terminator.id }, body: terminatorBody(fields), ifMatch: etag })
      }
    >
      <TerminatorFields fields={fields} onChange={setFields} />
    </Form>
  );
}
