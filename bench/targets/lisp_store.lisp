;; Times cl-binary-store on files: sbcl --load lisp_store.lisp with FOLDER and ROUNDS in the environment.
;; Prints a line for each file: its name, and the least milliseconds that storing and restoring its value took.
(require :asdf)
(dolist (folder (list (sb-ext:posix-getenv "STUB") (sb-ext:posix-getenv "CL_BINARY_STORE")))
  (when folder (push (truename (concatenate 'string folder "/")) asdf:*central-registry*)))
(handler-bind ((warning #'muffle-warning))
  (let ((*standard-output* (make-broadcast-stream)) (*error-output* (make-broadcast-stream)))
    (asdf:load-system :cl-binary-store)))

(defun octets (file)
  (with-open-file (in file :element-type '(unsigned-byte 8))
    (let ((octets (make-array (file-length in) :element-type '(unsigned-byte 8))))
      (read-sequence octets in)
      octets)))

(defun microseconds ()
  (multiple-value-bind (seconds microseconds) (sb-ext:get-time-of-day) (+ (* 1000000 seconds) microseconds)))

(defun least (function rounds)
  (/ (loop repeat rounds
           minimize (progn (sb-ext:gc)
                           (let ((start (microseconds))) (funcall function) (- (microseconds) start))))
     1000.0))

;; Structures are made as files describe them.
(defun restore (octets)
  (handler-bind ((cl-binary-store::object-type-not-found
                   (lambda (error)
                     (declare (ignore error))
                     (handler-bind ((warning #'muffle-warning)) (invoke-restart 'cl-binary-store::create-structure-object))))
                 (cl-binary-store::missing-package-during-restore
                   (lambda (error) (declare (ignore error)) (invoke-restart 'cl-binary-store::create-package))))
    (cl-binary-store:restore octets)))

(let ((rounds (parse-integer (sb-ext:posix-getenv "ROUNDS"))))
  (dolist (file (sort (directory (concatenate 'string (sb-ext:posix-getenv "FOLDER") "/*.bin")) #'string< :key #'pathname-name))
    (let* ((name (pathname-name file))
           (cl-binary-store:*track-references* (not (search "-plain" name)))
           (cl-binary-store:*support-shared-list-structures* (and (search "tangled" name) t))
           (octets (octets file))
           (value (restore octets))
           (room (make-array (* 2 (+ 1000 (length octets))) :element-type '(unsigned-byte 8))))
      (format t "~a ~,3f ~,3f~%" name
              (least (lambda () (cl-binary-store:store room value)) rounds)
              (least (lambda () (restore octets)) rounds))
      (finish-output))))
