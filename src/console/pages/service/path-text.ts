import { defineText } from '../../text/define-text.ts';

/** Texts of services by path and of answers of the gateway. */
export const pathText = defineText({
  en: {
    path: 'Path',
    remove: (name: string) => `Remove: ${name}`,
    addRoute: 'Add a service',
    routeOf: (number: string) => `Service ${number}`,
    routePathHelp: 'Whole segments, such as /api. It stands for itself and everything below it.',
    target: 'Service address',
    targetHelp: 'As the agent reaches it, such as http://127.0.0.1:4000 or file:///srv/docs.',
    stripPath: 'Remove the path from requests',
    stripPathHelp:
      'For /docs, the service gets /x instead of /docs/x. Redirects and cookies get the path back.',
    addAnswer: 'Add an answer',
    answerOf: (number: string) => `Answer ${number}`,
    answerPathHelp: 'Such as /robots.txt, or /old/* for everything below /old/.',
    kind: 'Answer',
    kinds: (kind: 'text' | 'redirect') => ({ text: 'Text', redirect: 'Redirect' })[kind],
    text: 'Text',
    contentType: 'Content type',
    contentTypeHelp:
      'Such as text/html; charset=utf-8. If empty, the extension of the path decides (html, css, js, json, xml), and other paths get plain text.',
    status: 'Status',
    textStatusHelp: '2xx, 4xx or 5xx, such as 404. If empty, 200.',
    redirectTo: 'Redirect to',
    redirectToHelp:
      'A web address or a path. /* at its end stands for the rest of the requested path, with the query.',
    redirectStatusHelp:
      '301 or 308 if the address changed for good, otherwise 302, 303 or 307. If empty, 302.',
  },
  de: {
    path: 'Pfad',
    remove: (name: string) => `Entfernen: ${name}`,
    addRoute: 'Dienst hinzufügen',
    routeOf: (number: string) => `Dienst ${number}`,
    routePathHelp: 'Ganze Abschnitte, zum Beispiel /api. Er steht für sich und alles darunter.',
    target: 'Adresse des Dienstes',
    targetHelp: 'Wie der Agent sie erreicht, zum Beispiel http://127.0.0.1:4000 oder file:///srv/docs.',
    stripPath: 'Den Pfad aus Anfragen entfernen',
    stripPathHelp:
      'Bei /docs bekommt der Dienst /x statt /docs/x. Umleitungen und Cookies bekommen den Pfad zurück.',
    addAnswer: 'Antwort hinzufügen',
    answerOf: (number: string) => `Antwort ${number}`,
    answerPathHelp: 'Zum Beispiel /robots.txt, oder /old/* für alles unter /old/.',
    kind: 'Antwort',
    kinds: (kind: 'text' | 'redirect') => ({ text: 'Text', redirect: 'Umleitung' })[kind],
    text: 'Text',
    contentType: 'Inhaltstyp',
    contentTypeHelp:
      'Zum Beispiel text/html; charset=utf-8. Ist das Feld leer, entscheidet die Endung des Pfades (html, css, js, json, xml), sonst ist es einfacher Text.',
    status: 'Status',
    textStatusHelp: '2xx, 4xx oder 5xx, zum Beispiel 404. Leer: 200.',
    redirectTo: 'Umleiten nach',
    redirectToHelp:
      'Eine Webadresse oder ein Pfad. /* am Ende steht für den Rest des angefragten Pfades samt Abfrage.',
    redirectStatusHelp:
      '301 oder 308, wenn sich die Adresse dauerhaft geändert hat, sonst 302, 303 oder 307. Leer: 302.',
  },
});
