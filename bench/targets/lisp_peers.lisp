;; cl-binary-store for `lisp_peers.py`. Each line of the input is a task, a mode and a file; each is answered by a number.
;;   exchange: restores the file and stores that beside it, its extension .sbcl
;;   store, restore: the mean nanoseconds of as many calls as make a turn, without the collections before them
(require :asdf)
(dolist (folder '("STUB" "CL_BINARY_STORE"))
  (push (truename (concatenate 'string (sb-ext:posix-getenv folder) "/")) asdf:*central-registry*))
(handler-bind ((warning #'muffle-warning))
  (let ((*standard-output* (make-broadcast-stream)) (*error-output* (make-broadcast-stream)))
    (asdf:load-system :cl-binary-store)))

(defconstant +turn+ 20000)              ; microseconds, as in holdall_bench.timing
(defvar *files* (make-hash-table :test 'equal)) ; name -> octets, value, room to store it

(defun octets (file)
  (with-open-file (in file :element-type '(unsigned-byte 8))
    (let ((octets (make-array (file-length in) :element-type '(unsigned-byte 8))))
      (read-sequence octets in)
      octets)))

(defun microseconds ()
  (multiple-value-bind (seconds microseconds) (sb-ext:get-time-of-day) (+ (* 1000000 seconds) microseconds)))

(defun mean (function)
  (loop with total = 0
        for calls from 1
        do (sb-ext:gc)
           (let ((start (microseconds))) (funcall function) (incf total (- (microseconds) start)))
        when (or (>= total +turn+) (= calls 200))
          return (/ (* 1000.0 total) calls)))

;; Structures are made as files describe them.
(defun restore (octets)
  (handler-bind ((cl-binary-store::object-type-not-found
                   (lambda (error)
                     (declare (ignore error))
                     (handler-bind ((warning #'muffle-warning)) (invoke-restart 'cl-binary-store::create-structure-object))))
                 (cl-binary-store::missing-package-during-restore
                   (lambda (error) (declare (ignore error)) (invoke-restart 'cl-binary-store::create-package))))
    (cl-binary-store:restore octets)))

(defun loaded (file)
  (or (gethash file *files*)
      (setf (gethash file *files*)
            (let ((octets (octets file)))
              (list octets (restore octets) (make-array (* 2 (+ 1000 (length octets))) :element-type '(unsigned-byte 8)))))))

(defun exchange (file)
  (with-open-file (out (make-pathname :type "sbcl" :defaults file)
                       :direction :output :if-exists :supersede :element-type '(unsigned-byte 8))
    (cl-binary-store:store out (restore (octets file))))
  0.0)

(loop
  (let* ((line (or (read-line *standard-input* nil) (sb-ext:exit)))
         (task (subseq line 0 (position #\Space line)))
         (mode (subseq line (1+ (length task)) (position #\Space line :start (1+ (length task)))))
         (file (subseq line (+ (length task) (length mode) 2)))
         (cl-binary-store:*track-references* (string/= mode "plain"))
         (cl-binary-store:*support-shared-list-structures* (string= mode "tangled")))
    (format t "~f~%"
            (if (string= task "exchange")
                (exchange file)
                (destructuring-bind (octets value room) (loaded file)
                  (mean (if (string= task "store")
                            (lambda () (cl-binary-store:store room value))
                            (lambda () (restore octets)))))))
    (finish-output)))
