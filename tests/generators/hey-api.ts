// The calls of docs/api.md with hey-api.

import {client} from './build/generated/hey-api/client.gen.js';
import {
    annotateTask, completeTask, createTask, createTasks, getTask, listChanges, listSeries, listTasks, updateTask,
} from './build/generated/hey-api/index.js';
import type {Task} from './build/generated/hey-api/index.js';

const [, , baseUrl, token] = process.argv;
client.setConfig({baseUrl, headers: {Authorization: `Bearer ${token}`}});

const made = await createTask({
    headers: {'Idempotency-Key': crypto.randomUUID()},
    body: {description: 'Say its number out loud', uuid: crypto.randomUUID(), tags: ['loud']},
});
if (!made.data) throw new Error(made.error.code);
const number: number = made.data.number, ref: string = made.data.key;

const listed = await listTasks({query: {status: ['pending'], tag: ['loud'], pageSize: 10}});
const tasks: Task[] = listed.data?.tasks ?? [];
const found = await getTask({path: {ref}});
if (!found.data) throw new Error('not found');
const edited = await updateTask({
    path: {ref}, headers: {'If-Match': found.data.etag, 'Idempotency-Key': crypto.randomUUID()},
    body: {project: 'Home', due: null},
});
const stale = await completeTask({path: {ref}, headers: {'If-Match': found.data.etag}});
const code: string | undefined = stale.error?.code;
const noted = await annotateTask({path: {ref}, body: {description: 'Said it'}});
const many = await createTasks({
    body: {items: [{idempotencyKey: crypto.randomUUID(), task: {description: 'Another'}}]},
});
const feed = await listChanges({query: {after: '0', limit: 10}});
const series = await listSeries();
console.log(JSON.stringify([
    number > 0, tasks.length > 0, edited.data?.project, code, noted.data?.annotations?.length,
    many.data?.results[0].receipt?.created, (feed.data?.changes.length ?? 0) > 2, series.data?.series.length,
]));
