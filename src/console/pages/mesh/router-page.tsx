/** One router: its facts, the permissions of its tunnel, and the way to its circuits and terminators. */
import { Switch, TextInput } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { RouterAnswer } from '#contract/schemas';
import { useAnswer, useChange } from '../../api/queries.ts';
import { useParam } from '../../frame/frontdoor.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { CopyText } from '../../parts/copy-text.tsx';
import { EditForm } from '../../parts/edit-form.tsx';
import { useFieldError } from '../../parts/form.tsx';
import { Facts, Panel } from '../../parts/page-title.tsx';
import { partsText } from '../../parts/parts-text.ts';
import { ExactTime } from '../../parts/time-ago.tsx';
import { reloadOf, useEdit, type Editable } from '../../parts/use-edit.ts';
import { useText } from '../../text/language.tsx';
import { meshText } from './mesh-text.ts';
import { MeshTitle } from './mesh-title.tsx';
import { NodeState } from './node-state.tsx';

export function RouterPage(): ReactNode {
  const [text, common] = [useText(meshText), useText(partsText)];
  const id = useParam('routerId');
  const answer = useAnswer('getRouter', { parameters: { id } });
  return (
    <AnswerView answer={answer}>
      {({ body, etag }) => (
        <>
          <MeshTitle
            title={body.name}
            path="routers"
            kind="router"
            operation="deleteRouter"
            input={{ parameters: { id }, ifMatch: etag }}
            question={text.deleteRouter}
            typed={body.name}
          >
            {text.deleteRouterText}
          </MeshTitle>
          <Panel>
            <Facts
              facts={[
                [text.state, <NodeState key="state" node={body} />],
                [text.id, <CopyText key="id" value={body.id} />],
                [text.version, body.version ?? common.notKnown],
                [text.connected, <ExactTime key="connected" at={body.connectedAt} />],
                [text.edgeAddress, body.edgeAddress ?? common.none],
                [
                  text.linkListeners,
                  body.linkListeners.length === 0 ? common.none : body.linkListeners.join(', '),
                ],
                [text.created, <ExactTime key="created" at={body.createdAt} />],
              ]}
            />
            <ul>
              <li>
                <Link to="/mesh/circuits" search={{ routerId: id }}>
                  {text.circuits}
                </Link>
              </li>
              <li>
                <Link to="/mesh/terminators" search={{ routerId: id }}>
                  {text.terminators}
                </Link>
              </li>
              <li>
                <Link to="/mesh/inspect" search={{ routerId: id }}>
                  {text.inspect}
                </Link>
              </li>
            </ul>
          </Panel>
          <Panel title={text.change}>
            <ChangeRouter key={body.id} now={{ body, etag }} reload={reloadOf(answer)} />
          </Panel>
        </>
      )}
    </AnswerView>
  );
}

function ChangeRouter(props: Editable<RouterAnswer>): ReactNode {
  const text = useText(meshText);
  const edit = useEdit({
    ...props,
    draftOf: ({ tunneler, roleAttributes }) => ({ tunneler, attributes: roleAttributes.join(', ') }),
  });
  const change = useChange('changeRouter', { refreshes: ['router'], onDone: edit.saved });
  const { tunneler, attributes } = edit.draft;
  const { body, etag } = edit.base;
  const roleAttributes = attributes.split(',').flatMap((part) => (part.trim() === '' ? [] : [part.trim()]));
  return (
    <EditForm
      edit={edit}
      change={change}
      fields={['roleAttributes']}
      submit={text.save}
      onSubmit={() =>
        change.mutate({ parameters: { id: body.id }, body: { tunneler, roleAttributes }, ifMatch: etag })
      }
    >
      <Switch
        label={text.tunneler}
        checked={tunneler}
        onChange={({ currentTarget }) => edit.type({ tunneler: currentTarget.checked })}
      />
      <AttributesField value={attributes} onChange={(typed) => edit.type({ attributes: typed })} />
    </EditForm>
  );
}

function AttributesField(props: {
  readonly value: string;
  readonly onChange: (value: string) => void;
}): ReactNode {
  const text = useText(meshText);
  return (
    <TextInput
      mt="md"
      label={text.attributes}
      value={props.value}
      error={useFieldError('roleAttributes')}
      onChange={({ currentTarget }) => props.onChange(currentTarget.value)}
    />
  );
}
