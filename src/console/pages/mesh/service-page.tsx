/** One service of the mesh: name, choice among its terminators, deletion. */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { FabricServiceAnswer } from '#contract/schemas';
import { useAnswer, useChange } from '../../api/queries.ts';
import { useParam } from '../../frame/frontdoor.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { EditForm } from '../../parts/edit-form.tsx';
import { NameField } from '../../parts/name-field.tsx';
import { Panel } from '../../parts/page-title.tsx';
import { reloadOf, useEdit, type Editable } from '../../parts/use-edit.ts';
import { useText } from '../../text/language.tsx';
import { meshText } from './mesh-text.ts';
import { MeshTitle } from './mesh-title.tsx';
import { StrategyChoice } from './strategy-choice.tsx';

export function ServicePage(): ReactNode {
  const text = useText(meshText);
  const id = useParam('serviceId');
  const answer = useAnswer('getFabricService', { parameters: { id } });
  return (
    <AnswerView answer={answer}>
      {({ body, etag }) => (
        <>
          <MeshTitle
            title={body.name}
            path="services"
            kind="fabric-service"
            operation="deleteFabricService"
            input={{ parameters: { id }, ifMatch: etag }}
            question={text.deleteService}
            typed={body.name}
          >
            {text.deleteServiceText}
          </MeshTitle>
          <Panel title={text.change}>
            <ChangeService key={body.id} now={{ body, etag }} reload={reloadOf(answer)} />
          </Panel>
          <Panel>
            <Link to="/mesh/terminators" search={{ serviceId: id }}>
              {text.terminators}
            </Link>
          </Panel>
        </>
      )}
    </AnswerView>
  );
}

function ChangeService(props: Editable<FabricServiceAnswer>): ReactNode {
  const text = useText(meshText);
  const edit = useEdit({
    ...props,
    draftOf: ({ name, terminatorStrategy }) => ({ name, terminatorStrategy }),
  });
  const change = useChange('changeFabricService', { refreshes: ['fabric-service'], onDone: edit.saved });
  const { body, etag } = edit.base;
  const { name, terminatorStrategy } = edit.draft;
  return (
    <EditForm
      edit={edit}
      change={change}
      fields={['name']}
      submit={text.save}
      onSubmit={() => change.mutate({ parameters: { id: body.id }, body: edit.draft, ifMatch: etag })}
    >
      <NameField label={text.name} value={name} onChange={(typed) => edit.type({ name: typed })} />
      <StrategyChoice
        value={terminatorStrategy}
        onChange={(chosen) => edit.type({ terminatorStrategy: chosen })}
      />
    </EditForm>
  );
}
