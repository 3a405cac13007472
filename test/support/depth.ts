/** Whether all of it is tried (`npm run test:deep`), or a sample that still meets every kind of it (`npm test`). */
export const isDeep = process.env.TEST_DEPTH === 'deep';
