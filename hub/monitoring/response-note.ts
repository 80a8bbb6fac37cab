/** What the log says of a response beside its status: for whoever runs the hub, not for the caller. */
import { deniedForm } from '../../src/host/denied-form.ts';
import type { HttpRequest, HttpResponse } from '../../src/http/message.ts';

/** A response that the hub made itself may say why. */
export type NotedResponse = HttpResponse & { readonly note?: string };

export function noteOf(request: HttpRequest, response: NotedResponse): string | undefined {
  const denied = response.faults?.find(({ code }) => code === 'permission denied');
  return (
    response.note ??
    response.headers['x-burrow-notice'] ??
    (denied && `denied: ${deniedForm(request.body ?? '', denied.position)}`)
  );
}
