/** One terminator. Those of shares are made by agents, and change with them. */
import type { ReactNode } from 'react';
import type { FabricTerminatorAnswer } from '#contract/schemas';
import { useAnswer, useChange } from '../../api/queries.ts';
import { useParam } from '../../frame/frontdoor.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { EditForm } from '../../parts/edit-form.tsx';
import { Facts, Panel } from '../../parts/page-title.tsx';
import { reloadOf, useEdit, type Editable } from '../../parts/use-edit.ts';
import { useFormat, useText } from '../../text/language.tsx';
import { meshText } from './mesh-text.ts';
import { MeshTitle } from './mesh-title.tsx';
import { TerminatorFields, terminatorBody, type TypedTerminator } from './terminator-fields.tsx';

export function TerminatorPage(): ReactNode {
  const [text, format] = [useText(meshText), useFormat()];
  const id = useParam('terminatorId');
  const answer = useAnswer('getTerminator', { parameters: { id } });
  return (
    <AnswerView answer={answer}>
      {({ body, etag }) => (
        <>
          <MeshTitle
            title={body.id}
            path="terminators"
            kind="terminator"
            operation="deleteTerminator"
            input={{ parameters: { id }, ifMatch: etag }}
            question={text.deleteTerminator}
          >
            {text.deleteTerminatorText}
          </MeshTitle>
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
            <ChangeTerminator key={body.id} now={{ body, etag }} reload={reloadOf(answer)} />
          </Panel>
        </>
      )}
    </AnswerView>
  );
}

function ChangeTerminator(props: Editable<FabricTerminatorAnswer>): ReactNode {
  const text = useText(meshText);
  const edit = useEdit({
    ...props,
    draftOf: ({ address, instanceId, cost, precedence }): TypedTerminator => ({
      address,
      instanceId,
      precedence,
      cost: String(cost),
    }),
  });
  const change = useChange('changeTerminator', { refreshes: ['terminator'], onDone: edit.saved });
  const { body, etag } = edit.base;
  return (
    <EditForm
      edit={edit}
      change={change}
      fields={['address', 'cost', 'instanceId']}
      submit={text.save}
      onSubmit={() =>
        change.mutate({ parameters: { id: body.id }, body: terminatorBody(edit.draft), ifMatch: etag })
      }
    >
      <TerminatorFields fields={edit.draft} onChange={edit.type} />
    </EditForm>
  );
}
