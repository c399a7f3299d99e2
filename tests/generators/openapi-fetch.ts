// The calls of docs/api.md with openapi-typescript and openapi-fetch.

import createClient from 'openapi-fetch';

import type {components, paths} from './build/generated/openapi-fetch.js';

type Task = components['schemas']['Task'];
const [, , baseUrl, token] = process.argv;
const api = createClient<paths>({baseUrl, headers: {Authorization: `Bearer ${token}`}});

const made = await api.POST('/v1/tasks', {
    params: {header: {'Idempotency-Key': crypto.randomUUID()}},
    body: {description: 'Say its number out loud', uuid: crypto.randomUUID(), tags: ['loud']},
});
if (!made.data) throw new Error(made.error.code);
const number: number = made.data.number, ref: string = made.data.key;

const listed = await api.GET('/v1/tasks', {params: {query: {status: ['pending'], tag: ['loud'], pageSize: 10}}});
const tasks: Task[] = listed.data?.tasks ?? [];
const found = await api.GET('/v1/tasks/{ref}', {params: {path: {ref}}});
if (!found.data) throw new Error('not found');
const edited = await api.PATCH('/v1/tasks/{ref}', {
    params: {path: {ref}, header: {'If-Match': found.data.etag, 'Idempotency-Key': crypto.randomUUID()}},
    body: {project: 'Home', due: null},
});
const stale = await api.POST('/v1/tasks/{ref}:complete', {
    params: {path: {ref}, header: {'If-Match': found.data.etag}},
});
const code: 'precondition-failed' | string | undefined = stale.error?.code;
const noted = await api.POST('/v1/tasks/{ref}:annotate', {params: {path: {ref}}, body: {description: 'Said it'}});
const many = await api.POST('/v1/tasks:batchCreate', {
    body: {items: [{idempotencyKey: crypto.randomUUID(), task: {description: 'Another'}}]},
});
const feed = await api.GET('/v1/changes', {params: {query: {after: '0', limit: 10}}});
const series = await api.GET('/v1/series');
console.log(JSON.stringify([
    number > 0, tasks.length > 0, edited.data?.project, code, noted.data?.annotations?.length,
    many.data?.results[0].receipt?.created, (feed.data?.changes.length ?? 0) > 2, series.data?.series.length,
]));
